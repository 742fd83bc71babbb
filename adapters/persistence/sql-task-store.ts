import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type {
  DueWork,
  Lease,
  Postponement,
  QueueLimits,
  StaleTask,
  TaskStore,
} from "../../application/ports/task-store.js";
import type { AccountId, Standing } from "../../domain/account.js";
import { type IdempotentRequest, sameRequest } from "../../domain/idempotency.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { refundEntry, reservationEntry } from "../../domain/ledger.js";
import type { ObjectName } from "../../domain/object-name.js";
import { mustQueue, nextTurn, type Queue } from "../../domain/queue.js";
import { requireStored } from "../../domain/reference-image.js";
import type { Slug } from "../../domain/slug.js";
import { startNextTasks } from "../../domain/start-next-tasks.js";
import {
  isActive,
  isInGallery,
  isRefusedCreation,
  type OpenedTask,
  type QueuedTask,
  type ReservedTask,
  type SucceededTask,
  type Task,
} from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import { standingOf } from "./account-rows.js";
import { branded, integer, type Row, text } from "./columns.js";
import type { Database, Sql } from "./database.js";
import { FAILED_IMAGE } from "./failed-image.js";
import { IN_GALLERY } from "./in-gallery.js";
import { entryRow } from "./ledger-rows.js";
import { lockAccount } from "./lock-account.js";
import { lockReferences, releaseReferences, useReferences } from "./reference-rows.js";
import { insertion, type Statement, update } from "./statement.js";
import { newTaskRow, stateColumns, toTask } from "./task-rows.js";
import { UnreadableTasks } from "./unreadable-tasks.js";
import { writeIfChecked, writeInOneRoundTrip } from "./write-in-one-round-trip.js";

/** The rows of each kind of work, besides that they are due. */
const rowsOfWork: Readonly<Record<keyof DueWork, string>> = {
  giveUp: "state = 'queued'",
  sweep: "state = 'reserved'",
  settle: "state = 'submitted'",
  keep: "state = 'succeeded' and hidden_at is null",
  erase: "state = 'succeeded' and hidden_at is not null",
};

/** Rows per statement after a page that contained rows that cannot be read. */
const UNREADABLE_PAGE_SIZE = 100;

/** Idempotency keys deleted per statement, so that it stays below the statement timeout even after a long outage. */
const FORGOTTEN_MAX = 1_000;

/** After so many changes of an account by others between reading and writing it, the account is locked instead. */
const UNLOCKED_ATTEMPTS_MAX = 3;

const NO_REFERENCES: ReadonlyMap<number, ObjectName> = new Map();

type OpenedOnce = { readonly task: Task; readonly replayed: boolean };
type Opening<Refusal> = Result<OpenedOnce, Refusal | InvalidRequest>;

/** Tasks in SQLite or PostgreSQL. */
export class SqlTaskStore implements TaskStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
  }

  async open<Refusal>(
    account: AccountId,
    dueAt: Date,
    idempotent: IdempotentRequest | undefined,
    decide: (standing: Standing, turn?: number) => Result<OpenedTask, Refusal>,
    limits?: QueueLimits,
    references: ReadonlyMap<number, ObjectName> = NO_REFERENCES,
  ): Promise<Opening<Refusal>> {
    if (limits === undefined && references.size === 0 && this.database.dialect === "postgresql") {
      for (let attempt = 0; attempt < UNLOCKED_ATTEMPTS_MAX; attempt += 1) {
        const opening = await this.openUnlessChanged(account, dueAt, idempotent, decide);
        if (opening !== undefined) return opening;
      }
    }
    return this.openLocked(account, dueAt, idempotent, decide, limits, references);
  }

  /**
   * Opens a task in two round trips on PostgreSQL: reads what the decision needs, then writes everything in one
   * statement if nobody has written the account's row since. Otherwise writes nothing and returns `undefined`: decide
   * again.
   *
   * The row's version is `xmin`, the number of the transaction that has written it; locks do not change it. Every
   * creation writes the row, so an unchanged row also means that no other one has used the idempotency key.
   */
  private async openUnlessChanged<Refusal>(
    account: AccountId,
    dueAt: Date,
    idempotent: IdempotentRequest | undefined,
    decide: (standing: Standing) => Result<OpenedTask, Refusal>,
  ): Promise<Opening<Refusal> | undefined> {
    const { sql } = this.database;
    const { current, version, first } = await readAccount(sql, account, idempotent);
    if (first !== undefined) return first.map((task) => ({ task, replayed: true }));

    const decided = decide(current);
    if (decided.isErr()) return err(decided.error);
    const { task, standing } = decided.value;
    const takeStanding = {
      text: "update account set credits = ?, active_tasks = ? where id = ? and xmin = cast(? as xid) returning id",
      parameters: [standing.credits, standing.activeTasks, account, version],
    };
    const writes = creationRows(task, dueAt, idempotent).map(([table, row]) => insertion(table, row, "checked"));
    return (await writeIfChecked(sql, takeStanding, writes)) ? ok({ task, replayed: false }) : undefined;
  }

  /** Opens a task while its account and its reference images are locked, and with `limits` the queue. */
  private openLocked<Refusal>(
    account: AccountId,
    dueAt: Date,
    idempotent: IdempotentRequest | undefined,
    decide: (standing: Standing, turn?: number) => Result<OpenedTask, Refusal>,
    limits: QueueLimits | undefined,
    references: ReadonlyMap<number, ObjectName>,
  ): Promise<Opening<Refusal>> {
    return this.database.transaction<OpenedOnce, Refusal | InvalidRequest>(async (sql) => {
      const { current, lastTurn } = await lockAccount(sql, account);
      const first = idempotent && (await firstUse(sql, account, idempotent));
      if (first !== undefined) return first.map((task) => ({ task, replayed: true }));

      const used = new Set(references.values());
      if (used.size > 0) {
        const stored = requireStored(references, await lockReferences(sql, [...used]));
        if (stored.isErr()) return err(stored.error);
      }

      const turn = limits && (await turnOf(sql, limits.concurrencyMax, lastTurn));
      const decided = decide(current, turn);
      if (decided.isErr()) return err(decided.error);
      const { task, standing } = decided.value;
      const rows = creationRows(task, task.state === "queued" && limits ? limits.dueAt : dueAt, idempotent);
      await writeInOneRoundTrip(sql, this.database.dialect, [
        ...rows.map(([table, row]) => insertion(table, row)),
        {
          text: "update account set credits = ?, active_tasks = ?, last_turn = ? where id = ?",
          parameters: [standing.credits, standing.activeTasks, turn ?? lastTurn, account],
        },
        ...useReferences(task, used),
      ]);
      return ok({ task, replayed: false });
    });
  }

  async startQueued(concurrencyMax: number | undefined, limit: number, dueAt: Date): Promise<ReservedTask[]> {
    if (!(await anyQueued(this.database.sql))) return [];
    const started = await this.database.transaction<ReservedTask[], never>(async (sql) => {
      const queue = await lockQueue(sql);
      const next = await this.headOfQueue(sql, limit);
      const { tasks, round } = startNextTasks(queue, next, concurrencyMax);
      if (tasks.length > 0) {
        await writeInOneRoundTrip(sql, this.database.dialect, [
          ...tasks.map((task) => update("task", { ...stateColumns(task), due_at: dueAt }, { id: task.id })),
          { text: "update task_queue set round = ?", parameters: [round] },
        ]);
      }
      return ok([...tasks]);
    });
    return started._unsafeUnwrap();
  }

  async find(id: TaskId, owner: AccountId): Promise<Task | undefined> {
    const [row] = await this.database.sql("select * from task where id = ? and account_id = ? and hidden_at is null", [
      id,
      owner,
    ]);
    return row && toTask(row);
  }

  async findBySlug(slug: Slug): Promise<Task | undefined> {
    const [row] = await this.database.sql("select * from task where slug = ? and hidden_at is null", [slug]);
    return row && toTask(row);
  }

  async ended(ids: readonly TaskId[]): Promise<TaskId[]> {
    // One parameter for all ids, so that the statement is prepared once.
    const isPostgres = this.database.dialect === "postgresql";
    const among = isPostgres ? "id = any(?)" : "id in (select value from json_each(?))";
    const rows = await this.database.sql(`select id from task where ${among} and state in ('succeeded', 'failed')`, [
      isPostgres ? ids : JSON.stringify(ids),
    ]);
    return rows.map((row) => branded<TaskId>(row, "id"));
  }

  async list(owner: AccountId, limit: number, before: TaskId | undefined): Promise<Task[]> {
    return this.newestFirst("account_id = ? and hidden_at is null", [owner], limit, before);
  }

  async listPublic(limit: number, before: TaskId | undefined): Promise<SucceededTask[]> {
    return (await this.newestFirst(IN_GALLERY, [], limit, before)).filter(isInGallery);
  }

  async listFailedImages(limit: number, before: TaskId | undefined): Promise<SucceededTask[]> {
    const tasks = await this.newestFirst(FAILED_IMAGE, [], limit, before);
    return tasks.filter((task) => task.state === "succeeded");
  }

  async setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>> {
    const changed = await this.database.sql(
      "update task set visibility = ? where id = ? and account_id = ? and hidden_at is null returning id",
      [visibility, id, owner],
    );
    return changed.length === 1 ? ok(undefined) : err(notFound(`There is no task ${id}.`));
  }

  /** Increments the fence, so that the lease of a worker becomes stale. */
  async hide(id: TaskId, owner: AccountId, now: Date): Promise<Result<void, NotFound>> {
    return this.database.transaction(async (sql) => {
      const hidden = await sql(
        `update task set hidden_at = ?, fence = fence + 1,
        due_at = case when state <> 'succeeded' then null when due_at > ? then due_at else ? end
        where id = ? and account_id = ? and hidden_at is null returning id`,
        [now, now, now, id, owner],
      );
      if (hidden.length === 0) return err(notFound(`There is no task ${id}.`));
      // Long ago: its images expire now, unless they were uploaded again.
      await writeInOneRoundTrip(sql, this.database.dialect, releaseReferences({ id, accountId: owner }, new Date(0)));
      return ok(undefined);
    });
  }

  async claim<Work extends keyof DueWork>(
    work: Work,
    now: Date,
    until: Date,
    limit: number,
  ): Promise<Lease<DueWork[Work]>[]> {
    const leases: Lease<DueWork[Work]>[] = [];
    for (;;) {
      const wanted = limit - leases.length;
      const rows = await this.claimRows(work, now, until, wanted);
      const { read, unreadable } = this.unreadable.separate(rows, (row) => ({
        // The statement selects the rows of this kind of work.
        task: toTask(row) as DueWork[Work],
        fence: integer(row, "fence"),
      }));
      leases.push(...read);
      if (unreadable.length > 0) await this.leaveToOthers(unreadable, now);
      if (rows.length < wanted || leases.length === limit) return leases;
    }
  }

  async move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>> {
    const before = "fence" in current ? current.task : current;
    // If the task stays active or was not active, only its own row changes: one statement without a transaction.
    if (!isActive(before) || isActive(next)) return replace(this.database.sql, current, next, dueAt);
    return this.database.transaction(async (sql) => {
      const replaced = await replace(sql, current, next, dueAt);
      if (replaced.isOk()) await writeInOneRoundTrip(sql, this.database.dialect, releases(before, next));
      return replaced;
    });
  }

  async makeDueNow(id: TaskId, now: Date): Promise<void> {
    await this.database.sql("update task set due_at = ? where id = ? and state = 'submitted' and due_at > ?", [
      now,
      id,
      now,
    ]);
  }

  /** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
  async bringForward(work: keyof DueWork, latest: Date, dueAt: Date): Promise<void> {
    const late = `select id from task where ${rowsOfWork[work]} and due_at > ? and due_at is not null`;
    const some = await this.database.sql(`${late} limit 1`, [latest]);
    if (some.length === 0) return;
    await this.database.sql(`update task set due_at = ? where id in (${late} ${this.skipLocked})`, [dueAt, latest]);
  }

  async postpone(postponements: readonly Postponement[]): Promise<void> {
    await this.setDueAt(postponements.map(({ lease: { task, fence }, dueAt }) => [task.id, task.state, fence, dueAt]));
  }

  async forgetIdempotencyKeys(before: Date): Promise<void> {
    await this.database.sql(
      `delete from idempotency_key where (account_id, key) in (
        select account_id, key from idempotency_key where created_at < ? order by created_at limit ${FORGOTTEN_MAX}
        ${this.skipLocked}
      )`,
      [before],
    );
  }

  private claimRows(work: keyof DueWork, now: Date, until: Date, limit: number): Promise<Row[]> {
    const skipped = this.unreadable.skipped(now);
    const others = skipped.length === 0 ? "" : `and ${this.isNoneOf}`;
    return this.database.sql(
      `with due as (
        select id from task where ${rowsOfWork[work]} and due_at <= ? and due_at is not null ${others}
        order by due_at limit ? ${this.skipLocked}
      )
      update task set due_at = ?, fence = fence + 1 where id in (select id from due) returning *`,
      [now, ...(skipped.length === 0 ? [] : [this.listOf(skipped)]), limit, until],
    );
  }

  /**
   * Returns the leases at once, so that an instance that can read the rows may claim them. This instance skips them for a
   * while, because they would be the first of every claim. A lease that it does not remember expires.
   */
  private async leaveToOthers(rows: readonly Row[], now: Date): Promise<void> {
    const skipped = this.unreadable.skip(rows, now);
    if (skipped.length > 0) await this.setDueAt(skipped.map(({ id, state, fence }) => [id, state, fence, now]));
  }

  /** Each row is id, state, fence and the new due time; it is ignored if the task has another state or fence now. */
  private async setDueAt(rows: readonly (readonly [id: unknown, state: unknown, fence: unknown, dueAt: Date])[]) {
    const row = "(cast(? as text), cast(? as text), cast(? as integer), cast(? as timestamptz))";
    await this.database.sql(
      `with postponed (id, state, fence, due_at) as (values ${rows.map(() => row).join(", ")})
      update task set due_at = postponed.due_at from postponed
      where task.id = postponed.id and task.state = postponed.state and task.fence = postponed.fence`,
      rows.flat(),
    );
  }

  /** The queued tasks that start next. Rows that cannot be read keep their place, and do not stop those behind them. */
  private async headOfQueue(sql: Sql, limit: number): Promise<QueuedTask[]> {
    const next: QueuedTask[] = [];
    for (let offset = 0, size = limit; ; offset += size, size = UNREADABLE_PAGE_SIZE) {
      const rows = await sql(
        `select * from task where state = 'queued' order by turn, id limit ? offset ? ${this.skipLocked}`,
        [size, offset],
      );
      // The statement reads queued tasks only.
      next.push(...this.unreadable.separate(rows, (row) => toTask(row) as QueuedTask).read);
      if (rows.length < size || next.length >= limit) return next.slice(0, limit);
    }
  }

  /** Reads on until it has `limit` tasks or there are no more: a shorter answer would look like the last page. */
  private async newestFirst(
    condition: string,
    parameters: readonly unknown[],
    limit: number,
    before: TaskId | undefined,
  ): Promise<Task[]> {
    const tasks: Task[] = [];
    for (let last: unknown = before, size = limit; ; size = UNREADABLE_PAGE_SIZE) {
      const rows = await this.database.sql(
        `select * from task where ${condition} ${last === undefined ? "" : "and id < ?"} order by id desc limit ?`,
        [...parameters, ...(last === undefined ? [] : [last]), size],
      );
      tasks.push(...this.unreadable.separate(rows, toTask).read);
      if (rows.length < size || tasks.length >= limit) return tasks.slice(0, limit);
      last = rows.at(-1)?.id;
    }
  }

  /** A condition on `id` whose parameter is a `listOf` ids. */
  private get isNoneOf(): string {
    return this.database.dialect === "postgresql" ? "id <> all(?)" : "id not in (select value from json_each(?))";
  }

  private listOf(ids: readonly unknown[]): unknown {
    return this.database.dialect === "postgresql" ? ids : JSON.stringify(ids);
  }

  /** Skips rows that another instance has locked. SQLite has only one writer at a time. */
  private get skipLocked(): string {
    return this.database.dialect === "postgresql" ? "for update skip locked" : "";
  }
}

/** The rows that a creation inserts, in the order of their foreign keys. */
const creationRows = (
  task: OpenedTask["task"],
  dueAt: Date,
  idempotent: IdempotentRequest | undefined,
): [table: string, row: Row][] => {
  const rows: [string, Row][] = [
    ["task", newTaskRow(task, dueAt)],
    ["ledger_entry", entryRow(reservationEntry(task.reservation, task.reservedAt))],
  ];
  if (idempotent !== undefined) {
    const { key, requestSha256: request_sha256 } = idempotent;
    const first = { account_id: task.accountId, key, task_id: task.id, request_sha256, created_at: task.reservedAt };
    rows.push(["idempotency_key", first]);
  }
  return rows;
};

/** Reads the account's standing with the version of its row, and the first use of the idempotency key, in one statement. */
const readAccount = async (sql: Sql, account: AccountId, idempotent: IdempotentRequest | undefined) => {
  const standing = "account.credits as balance, active_tasks, cast(account.xmin as text) as version";
  const [row] =
    idempotent === undefined
      ? await sql(`select ${standing} from account where id = ?`, [account])
      : await sql(
          `select task.*, request_sha256, ${standing} from account
          left join idempotency_key on idempotency_key.account_id = account.id and idempotency_key.key = ?
          left join task on task.id = idempotency_key.task_id
          where account.id = ?`,
          [idempotent.key, account],
        );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return {
    current: standingOf(account, { ...row, credits: row.balance }),
    version: text(row, "version"),
    first: idempotent === undefined || row.request_sha256 === null ? undefined : replayOf(row, idempotent),
  };
};

/** Reads the queue and locks it until the transaction ends, so that no other transaction takes a slot or a turn. */
const lockQueue = async (sql: Sql): Promise<Queue> => {
  const [queue] = await sql("update task_queue set round = round returning id, round");
  if (queue === undefined) throw new Error("the row of task_queue is missing");
  // A separate statement after the lock: a PostgreSQL statement only sees what was committed before it began.
  const [tasks] = await sql(
    "select cast(count(*) as integer) as running from task where state in ('reserved', 'submitted') and due_at is not null",
  );
  return { running: integer(tasks ?? {}, "running"), waiting: await anyQueued(sql), round: integer(queue, "round") };
};

const anyQueued = async (sql: Sql): Promise<boolean> =>
  (await sql("select id from task where state = 'queued' limit 1")).length > 0;

/** The turn of a new task if it must wait; `undefined` if it can start at once. */
const turnOf = async (sql: Sql, concurrencyMax: number, lastTurn: number): Promise<number | undefined> => {
  const queue = await lockQueue(sql);
  return mustQueue(queue, concurrencyMax) ? nextTurn(queue, lastTurn) : undefined;
};

/** The task of an idempotency key that is already used; an error if it was used for another request. */
const firstUse = async (
  sql: Sql,
  account: AccountId,
  idempotent: IdempotentRequest,
): Promise<Result<Task, InvalidRequest> | undefined> => {
  const [row] = await sql(
    `select task.*, request_sha256 from idempotency_key join task on task.id = idempotency_key.task_id
    where idempotency_key.account_id = ? and idempotency_key.key = ?`,
    [account, idempotent.key],
  );
  return row && replayOf(row, idempotent);
};

const replayOf = (row: Row, idempotent: IdempotentRequest): Result<Task, InvalidRequest> =>
  sameRequest(text(row, "request_sha256"), idempotent).map(() => toTask(row));

/**
 * Checks and writes in one statement. To compare the state is enough, because a task enters no state twice. An image
 * enters only `uploading` twice.
 */
const replace = async (
  sql: Sql,
  current: Task | Lease<Task>,
  next: Task,
  dueAt: Date | undefined,
): Promise<Result<void, StaleTask>> => {
  const before = "fence" in current ? current.task : current;
  const changes = { ...stateColumns(next), due_at: dueAt ?? null };
  const conditions = {
    id: before.id,
    state: before.state,
    ...(before.state === "succeeded" && { storage_status: before.image.status }),
    ...("fence" in current && { fence: current.fence }),
  };
  const { text, parameters } = update("task", changes, conditions);
  const rows = await sql(`${text} returning id`, parameters);
  return rows.length === 1 ? ok(undefined) : err({ kind: "stale_task", id: before.id });
};

/**
 * Frees the account's slot. For a failed task, also refunds the credits, and releases its reference images and a refused
 * creation's key.
 */
const releases = (before: Task, next: Task): Statement[] => {
  const failed = next.state === "failed";
  const account = {
    text: "update account set credits = credits + ?, active_tasks = active_tasks - 1 where id = ?",
    parameters: [failed ? next.reservation.credits : 0, next.accountId],
  };
  if (!failed) return [account];
  const releases = [account, insertion("ledger_entry", entryRow(refundEntry(next.reservation, next.failedAt)))];
  if (next.request.imageUrls.length > 0) releases.push(...releaseReferences(next, next.failedAt));
  if (isRefusedCreation(before, next)) {
    releases.push({ text: "delete from idempotency_key where task_id = ?", parameters: [next.id] });
  }
  return releases;
};
