import type { Lease } from "../../../application/ports/stores/tasks/task-store.js";
import type { DueBounds, DueWork, Postponement, TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import type { TaskId } from "../../../domain/ids.js";
import type { SubmittedTask } from "../../../domain/tasks/task.js";
import { integer, type Row } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { isAmong, listOf, skipLocked } from "../database/sql/dialect-sql.js";
import { IS_FREE, isWanted, LEASE, WANT_NOW } from "../database/sql/leases.js";
import { eraseTaskTexts } from "./erase-task-texts.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { writeMove } from "./task-moves.js";
import { toTask } from "./task-rows.js";

/** The rows of each kind of work, besides that they are due. */
const rowsOfWork: Readonly<Record<keyof DueWork, string>> = {
  giveUp: "state = 'queued'",
  recover: "state = 'submitting'",
  poll: "state = 'submitted'",
  check: "state = 'generated'",
  store: "state = 'succeeded' and deleted_at is null",
  erase: "state = 'succeeded' and deleted_at is not null",
};

/** Tasks brought forward per statement. The next call, seconds later, takes the next ones. */
const LATE_PER_STATEMENT = 1_000;

/** Idempotency keys deleted per statement, so that it stays below the statement timeout even after a long outage. */
const FORGOTTEN_MAX = 1_000;

/** The background work on tasks in SQLite or PostgreSQL. */
export function sqlTaskWork(context: SqlTaskContext): TaskWork {
  const { database } = context;
  return {
    claim: (work, now, until, limit) => claim(context, work, { now, until, limit }),
    lease: (task, now, until) => lease(database, task, now, until),
    moveWithinLease: (current, next, until) => writeMove(context, { current, next, dueAt: until, leasedUntil: until }),
    postpone: (postponements) => postpone(database, postponements),
    makeDueNow: (id, now) => makeDueNow(database, id, now),
    bringForward: (work, bounds) => bringForward(database, work, bounds),
    eraseTexts: (before, limit, now) => eraseTaskTexts(database, before, limit, now),
    forgetIdempotencyKeys: (before) => forgetIdempotencyKeys(database, before),
  };
}

/** When a claim is made, when its leases end, and how many there may be. */
type Claim = { readonly now: Date; readonly until: Date; readonly limit: number };

const claim = async <Work extends keyof DueWork>(
  context: SqlTaskContext,
  work: Work,
  { now, until, limit }: Claim,
): Promise<Lease<DueWork[Work]>[]> => {
  const leases: Lease<DueWork[Work]>[] = [];
  for (;;) {
    const wanted = limit - leases.length;
    const rows = await claimRows(context, work, { now, until, limit: wanted });
    const { read, unreadable } = context.unreadable.separate(rows, (row) => ({
      // The statement selects the rows of this kind of work.
      task: toTask(row) as DueWork[Work],
      fence: integer(row, "fence"),
    }));
    leases.push(...read);
    if (unreadable.length > 0) await leaveToOthers(context, unreadable, now);
    if (rows.length < wanted || leases.length === limit) break;
  }
  if (leases.length > 0) context.observer?.claimed(work, leases.length);
  return leases;
};

function claimRows(
  { database, unreadable }: SqlTaskContext,
  work: keyof DueWork,
  { now, until, limit }: Claim,
): Promise<Row[]> {
  const skipped = unreadable.skipped(now);
  const { dialect } = database;
  const others = skipped.length === 0 ? "" : `and not (${isAmong("id", dialect)})`;
  return database.sql(
    `with due as (
      select id from task where ${rowsOfWork[work]} and due_at <= ? and due_at is not null and ${IS_FREE} ${others}
      order by due_at limit ? ${skipLocked(database.dialect)}
    )
    update task set ${LEASE} where id in (select id from due) returning *`,
    [now, now, ...(skipped.length === 0 ? [] : [listOf(skipped, dialect)]), limit, until, until],
  );
}

/**
 * Returns the leases at once, so that an instance that can read the rows may claim them. This instance skips them for a
 * while, because they would be the first of every claim. A lease that it does not remember expires.
 */
async function leaveToOthers({ database, unreadable }: SqlTaskContext, rows: readonly Row[], now: Date): Promise<void> {
  const skipped = unreadable.skip(rows, now);
  const leases = skipped.map(({ id, state, fence }) => [id, state, fence, now] as const);
  if (leases.length > 0) await returnLeases(database, leases);
}

async function lease(
  database: Database,
  { id }: SubmittedTask,
  now: Date,
  until: Date,
): Promise<Lease<SubmittedTask> | undefined> {
  const [row] = await database.sql(
    `update task set ${LEASE} where id = ? and state = 'submitted' and deleted_at is null and ${IS_FREE} returning *`,
    [until, until, id, now],
  );
  // The statement leases a submitted task only.
  return row && { task: toTask(row) as SubmittedTask, fence: integer(row, "fence") };
}

async function postpone(database: Database, postponements: readonly Postponement[]): Promise<void> {
  const leases = postponements.map(({ lease: { task, fence }, dueAt }) => [task.id, task.state, fence, dueAt] as const);
  await returnLeases(database, leases);
}

/** Each row is id, state, fence and the new due time; it is ignored if the task has another state or fence now. */
async function returnLeases(
  database: Database,
  rows: readonly (readonly [id: unknown, state: unknown, fence: unknown, dueAt: Date])[],
) {
  const row = "(cast(? as text), cast(? as text), cast(? as integer), cast(? as timestamptz))";
  await database.sql(
    `with postponed (id, state, fence, due_at) as (values ${rows.map(() => row).join(", ")})
    update task set leased_until = null,
      due_at = case when ${isWanted("task")} and (task.due_at < postponed.due_at) is not false
        then task.due_at else postponed.due_at end
    from postponed
    where task.id = postponed.id and task.state = postponed.state and task.fence = postponed.fence`,
    rows.flat(),
  );
}

async function makeDueNow(database: Database, id: TaskId, now: Date): Promise<void> {
  // Also after its lease has ended: the late holder would make it due later.
  await database.sql(
    `update task set ${WANT_NOW} where id = ? and state = 'submitted' and (due_at > ? or due_at = leased_until)`,
    [now, now, id, now],
  );
}

/** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
async function bringForward(database: Database, work: keyof DueWork, bounds: () => DueBounds): Promise<void> {
  const before = bounds();
  const rows = `select id, due_at, leased_until from task where ${rowsOfWork[work]} and due_at is not null`;
  // The second part: somebody has wanted a leased task earlier, and the clock was set back since it was leased.
  const late = await database.sql(
    `select * from (${rows} and due_at > ? limit ?) as due union all
    select * from (${rows} and due_at <= ? and leased_until > ? limit ?) as wanted`,
    [before.latest, LATE_PER_STATEMENT, before.now, before.latest, LATE_PER_STATEMENT],
  );
  if (late.length === 0) return;
  const { latest, dueAt } = bounds();
  const row = "(cast(? as text), cast(? as timestamptz), cast(? as timestamptz))";
  await database.sql(
    `with late (id, due_at, leased_until) as (values ${late.map(() => row).join(", ")})
    update task set
      due_at = case when task.due_at <= ? then task.due_at
        when task.leased_until > ? then cast(? as timestamptz) else cast(? as timestamptz) end,
      leased_until = case when task.leased_until > ? then cast(? as timestamptz) else task.leased_until end
    from late where task.id = late.id and task.due_at = late.due_at
      and coalesce(task.leased_until, task.due_at) = coalesce(late.leased_until, late.due_at)
      and ${rowsOfWork[work]} and (task.due_at > ? or task.leased_until > ?)`,
    [
      ...late.flatMap(({ id, due_at, leased_until }) => [id, due_at, leased_until]),
      ...[latest, latest, latest, dueAt],
      ...[latest, latest],
      ...[latest, latest],
    ],
  );
}

async function forgetIdempotencyKeys(database: Database, before: Date): Promise<void> {
  await database.sql(
    `delete from idempotency_key where (account_id, key) in (
      select account_id, key from idempotency_key where created_at < ? order by created_at limit ${FORGOTTEN_MAX}
      ${skipLocked(database.dialect)}
    )`,
    [before],
  );
}
