import { err, ok, type Result } from "neverthrow";
import type { Lease, StaleTask } from "../../../application/ports/stores/tasks/task-store.js";
import { type LedgerEntry, refundEntry } from "../../../domain/credits/ledger.js";
import { isPermanent } from "../../../domain/images/storage-status.js";
import { endedAtOf, type NewEvent, taskEventOf } from "../../../domain/tasks/account-event.js";
import { type FailedTask, isActive, isRefusedCreation, isRenamed, type Task } from "../../../domain/tasks/task.js";
import { countFailure } from "../accounts/account-rows.js";
import { refundSpending } from "../credits/spending-rows.js";
import type { Row } from "../database/sql/columns.js";
import type { Database, Dialect, Sql } from "../database/sql/database.js";
import { dueUnlessWanted } from "../database/sql/leases.js";
import { type Statement, update } from "../database/sql/statement.js";
import { releaseReferences } from "../references/reference-rows.js";
import { CHECKED, writeEvent } from "../webhooks/event-rows.js";
import { DUE_UNLESS_DELETED } from "./due-when-deleted.js";
import { updateSearch } from "./search-rows.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { stateColumns } from "./task-columns.js";

/** A move of a task, and when its next work is due. The lease is given back, or goes on until `leasedUntil`. */
type Move = {
  readonly current: Task | Lease<Task>;
  readonly next: Task;
  readonly dueAt: Date | undefined;
  readonly leasedUntil?: Date;
  /** Columns with the times of the stages that it enters. */
  readonly times?: Row;
};

/** `TaskStore.move` and `TaskWork.moveWithinLease`. */
export async function writeMove(
  { database, writes, clock, observer }: SqlTaskContext,
  move: Move,
): Promise<Result<void, StaleTask>> {
  const { current, next } = move;
  const before = "fence" in current ? current.task : current;
  const now = clock.now();
  const timed = { ...move, times: timesOf(before, next, now) };
  const write = () => moveRows(database, timed, before, taskEventOf(before, next, now));
  const locksAccount = database.dialect === "postgresql" && !isActive(next);
  const moved = await (locksAccount ? writes.inOrder(next.accountId, write) : write());
  if (moved.isOk()) observer?.moved(before, next);
  else observer?.stale();
  return moved;
}

async function moveRows(
  database: Database,
  move: Move,
  before: Task,
  event: NewEvent | undefined,
): Promise<Result<void, StaleTask>> {
  const { next } = move;
  // A panorama whose image is kept may enter the gallery.
  const mayChangeGallery = hasPermanentImage(before) !== hasPermanentImage(next);
  // Otherwise, and without an event, only the task's own row changes: one statement without a transaction.
  if (!mayChangeGallery && (event === undefined || isActive(next)))
    return (await replace(database.sql, move)).map(() => undefined);
  return database.transaction(async (sql) => {
    const replaced = await replace(sql, move);
    if (replaced.isErr()) return err(replaced.error);
    if (mayChangeGallery) await updateSearch(sql, database.dialect, [next.id]);
    // A deleted panorama causes no event. One that was deleted in processing still gives back its slot and credits.
    if (replaced.value === "deleted" && !isActive(before)) return ok(undefined);
    if (event === undefined || isActive(next)) return ok(undefined);
    const delivery = { webhookUrl: before.request.webhookUrl, dueAt: endedAtOf(next) };
    const released = isActive(before) ? releases(before, next, database.dialect) : NOTHING_RELEASED;
    await writeEvent(sql, database.dialect, { event, delivery }, released);
    return ok(undefined);
  });
}

/** The stages whose times the task itself does not have. Only operators read them. */
function timesOf(before: Task, next: Task, now: Date): Row {
  if (next.state === "generated" && before.state !== "generated") return { generated_at: now };
  if (next.state !== "succeeded" || before.state !== "succeeded") return {};
  if (isPermanent(next.image) && !isPermanent(before.image)) return { saved_at: now };
  return next.image.status === "expired" && before.image.status !== "expired" ? { expired_at: now } : {};
}

const hasPermanentImage = (task: Task): boolean => task.state === "succeeded" && isPermanent(task.image);

/**
 * Checks and writes in one statement. To compare state and submission is enough, because a task enters no state twice
 * in one submission. An image enters only `uploading` twice. A lease ends with its state, whoever moves the task.
 */
export async function replace(
  sql: Sql,
  { current, next, dueAt, leasedUntil, times }: Move,
): Promise<Result<"kept" | "deleted", StaleTask>> {
  const before = "fence" in current ? current.task : current;
  const leaseEnds = "fence" in current || before.state !== next.state;
  const changes = {
    ...stateColumns(next),
    ...times,
    ...(isRenamed(before, next) && { next_image_name: null }),
    ...(leaseEnds && { leased_until: leasedUntil ?? null }),
  };
  const conditions = {
    id: before.id,
    state: before.state,
    ...("submissions" in before && { submissions: before.submissions }),
    ...(before.state === "succeeded" && { storage_status: before.image.status }),
    ...("fence" in current && { fence: current.fence }),
  };
  const staysLeased = leasedUntil !== undefined && before.state === next.state;
  const usual = staysLeased ? dueUnlessWanted("task") : "due_at = ?";
  const due = before.state === "succeeded" ? DUE_UNLESS_DELETED : usual;
  const { text, parameters } = update("task", changes, conditions, { text: due, parameters: [dueAt ?? null] });
  const [row] = await sql(`${text} returning id, deleted_at`, parameters);
  if (row === undefined) return err({ kind: "stale_task", id: before.id });
  return ok(row.deleted_at === null ? "kept" : "deleted");
}

/** `account`: assignments to the account's row. `others`: further writes. */
type Releases = { readonly account: Statement; readonly others: readonly Statement[] };

const SLOT = ", active_tasks = active_tasks - 1";
const TURN = ", last_turn = last_turn - case when last_turn = ? then 1 else 0 end";

const NOTHING_RELEASED: Releases = { account: { text: "", parameters: [] }, others: [] };

/**
 * Frees the account's slot, and the turn of a waiting task if it is the account's last. For a failed task, also refunds
 * the credits to the account and its key, and releases its reference images and a refused creation's key.
 */
function releases(before: Task, next: Task, dialect: Dialect): Releases {
  const failed = next.state === "failed";
  const slot =
    before.state === "queued" ? { text: `${SLOT}${TURN}`, parameters: [before.turn] } : { text: SLOT, parameters: [] };
  if (!failed) return { account: slot, others: [] };
  const failure = countFailure(next);
  const { credits } = next.reservation;
  const account = {
    text: `${slot.text}, credits = credits + ? - ${DEBT_PAID}, debt = debt - ${DEBT_PAID}${failure.text}`,
    parameters: [...slot.parameters, credits, credits, credits, credits, credits, ...failure.parameters],
  };
  const others = [refundInsertion(next, dialect)];
  others.push(...refundSpending(next));
  if (next.request.imageUrls.length > 0) others.push(...releaseReferences(next, next.failedAt));
  if (isRefusedCreation(before, next)) {
    others.push({ text: "delete from idempotency_key where task_id = ?", parameters: [next.id] });
  }
  return { account, others };
}

/**
 * SQL for the part of a debt that a refund pays, given its credits twice. An account with debt has no balance (`book`).
 */
const DEBT_PAID = "case when credits > 0 then 0 when debt < ? then debt else ? end";

/**
 * The entries of a refund, after its account was written: what its balance is short of the refund has paid a debt. One
 * statement, so that the refund has the lower number.
 */
function refundInsertion({ accountId, reservation, failedAt }: FailedTask, dialect: Dialect): Statement {
  const { taskId, credits, at } = refundEntry(reservation, failedAt) as RefundEntry;
  const written = dialect === "postgresql" ? CHECKED.text : "(select id, credits from account where id = ?)";
  return {
    text: `insert into ledger_entry (account_id, kind, credits, task_id, at)
      select written.id, case part.n when 1 then 'refund' else 'debt' end,
        case part.n when 1 then cast(? as integer) else written.credits - cast(? as integer) end,
        case part.n when 1 then cast(? as text) end, ?
      from ${written} as written cross join (select 1 as n union all select 2 as n) as part
      where part.n = 1 or written.credits < ? order by part.n`,
    parameters: [credits, credits, taskId, at, ...(dialect === "postgresql" ? [] : [accountId]), credits],
  };
}

type RefundEntry = Extract<LedgerEntry, { readonly taskId: unknown }>;
