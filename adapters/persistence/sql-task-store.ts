import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type {
  DueBounds,
  DueWork,
  Lease,
  Postponement,
  StaleTask,
  TaskOpening,
  TaskStore,
} from "../../application/ports/task-store.js";
import type { AccountId } from "../../domain/account.js";
import type { ProviderPlace, Queue } from "../../domain/queue.js";
import type { Slug } from "../../domain/slug.js";
import { type StartedTasks, startNextTasks } from "../../domain/start-next-tasks.js";
import {
  isInGallery,
  type QueuedTask,
  type ReservedTask,
  type SubmittedTask,
  type SucceededTask,
  type Task,
} from "../../domain/task.js";
import type { TaskFilter } from "../../domain/task-filter.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import { SystemClock } from "../system/system-clock.js";
import { AccountTurns } from "./account-turns.js";
import { branded, integer, type Row } from "./columns.js";
import type { Database, Sql } from "./database.js";
import { isAmong, listOf, skipLocked } from "./dialect-sql.js";
import { DUE_WHEN_HIDDEN } from "./due-when-hidden.js";
import { deletePairs, deleteReadEvents, eraseTexts } from "./erase-texts.js";
import { FAILED_IMAGE } from "./failed-image.js";
import { IN_GALLERY, IS_OUT_OF_SEARCH } from "./in-gallery.js";
import { KEPT_IMAGE } from "./kept-image.js";
import { anyQueued, countBefore, lockQueue } from "./queue-rows.js";
import { releaseReferences } from "./reference-rows.js";
import { completeSearch, found, updateSearch } from "./search-rows.js";
import { newerThan, olderThan, type Statement, update } from "./statement.js";
import { rangesOf, type Source, TASKS, type TaskRange } from "./task-filters.js";
import { type Move, moveTask } from "./task-moves.js";
import type { TaskObserver } from "./task-observer.js";
import { type Opened, openTaskRows } from "./task-opening.js";
import { changePlaceOfTask, requeueTask } from "./task-returns.js";
import { stateColumns, toTask } from "./task-rows.js";
import { UnreadableTasks } from "./unreadable-tasks.js";
import { writeInOneRoundTrip } from "./write-in-one-round-trip.js";

/** The rows of each kind of work, besides that they are due. */
const rowsOfWork: Readonly<Record<keyof DueWork, string>> = {
  giveUp: "state = 'queued'",
  sweep: "state = 'reserved'",
  settle: "state = 'submitted'",
  check: "state = 'generated'",
  keep: "state = 'succeeded' and hidden_at is null and storage_status <> 'expired'",
  erase: "state = 'succeeded' and (hidden_at is not null or storage_status = 'expired')",
};

/** A condition: nobody has leased the task. Its parameter is the present time. */
const IS_FREE = "(leased_until is null or leased_until <= ?)";

/** Assignments. Both parameters are the end of the lease: if it is not given back, the task is due then. */
const LEASE = "due_at = ?, leased_until = ?, fence = fence + 1";

/** Rows per statement after a page with rows that cannot be read, or with tasks that no free slot can make. */
const NEXT_PAGE_SIZE = 100;

/** Tasks brought forward per statement. The next call, seconds later, takes the next ones. */
const LATE_PER_STATEMENT = 1_000;

/** Idempotency keys deleted per statement, so that it stays below the statement timeout even after a long outage. */
const FORGOTTEN_MAX = 1_000;

/** Tasks in SQLite or PostgreSQL. */
export class SqlTaskStore implements TaskStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;
  private readonly observer: TaskObserver | undefined;
  private readonly clock: Pick<Clock, "now">;
  private readonly turns = new AccountTurns();

  /** `reporter` receives the tasks whose rows this version cannot read. `clock`: for events of tasks without a time. */
  constructor(
    database: Database,
    reporter: Pick<Reporter, "report"> = { report: () => {} },
    observer?: TaskObserver | undefined,
    clock: Pick<Clock, "now"> = new SystemClock(),
  ) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
    this.observer = observer;
    this.clock = clock;
  }

  open<Refusal>(opening: TaskOpening<Refusal>): Promise<Opened<Refusal>> {
    return openTaskRows(this.database, this.turns, opening, this.observer);
  }

  async startQueued(places: readonly ProviderPlace[], limit: number, now: Date, dueAt: Date): Promise<ReservedTask[]> {
    if (!(await anyQueued(this.database.sql))) return [];
    const started = await this.database.transaction<ReservedTask[], never>(async (sql) => {
      const { tasks, round } = await this.startNext(sql, await lockQueue(sql), places, limit, now);
      if (tasks.length > 0) {
        await writeInOneRoundTrip(sql, this.database.dialect, [
          ...tasks.map((task) =>
            update("task", { ...stateColumns(task), due_at: dueAt, leased_until: null }, { id: task.id }),
          ),
          { text: "update task_queue set round = ?", parameters: [round] },
        ]);
      }
      return ok([...tasks]);
    });
    const tasks = started._unsafeUnwrap();
    for (const task of tasks) this.observer?.started(task);
    return tasks;
  }

  async countAhead({ turn, id }: QueuedTask, max: number): Promise<number> {
    return countBefore(this.database.sql, turn, id, max);
  }

  requeue(current: ReservedTask | Lease<ReservedTask>, dueAt: Date): Promise<Result<QueuedTask, StaleTask>> {
    return requeueTask(this.database, current, dueAt);
  }

  changePlace(task: ReservedTask, place: ProviderPlace): Promise<boolean> {
    return changePlaceOfTask(this.database, task, place);
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
    const { dialect, sql } = this.database;
    const rows = await sql(`select id from task where ${isAmong("id", dialect)} and state in ('succeeded', 'failed')`, [
      listOf(ids, dialect),
    ]);
    return rows.map((row) => branded<TaskId>(row, "id"));
  }

  async list(
    owner: AccountId,
    limit: number,
    beyond: TaskId | undefined,
    filter: TaskFilter = {},
    first: "newest" | "oldest" = "newest",
  ): Promise<Task[]> {
    return this.inOrder(first, await rangesOf(this.database.sql, owner, filter), limit, beyond);
  }

  async listPublic(
    limit: number,
    beyond: TaskId | undefined,
    first: "newest" | "oldest" = "newest",
  ): Promise<SucceededTask[]> {
    return (await this.inOrder(first, [GALLERY], limit, beyond)).filter(isInGallery);
  }

  async searchPublic(
    words: readonly string[],
    limit: number,
    beyond: TaskId | undefined,
    first: "newest" | "oldest" = "newest",
  ): Promise<SucceededTask[]> {
    const { from, query } = found(words, this.database.dialect);
    const range: TaskRange = { from, conditions: IN_GALLERY, parameters: [query] };
    return (await this.inOrder(first, [range], limit, beyond)).filter(isInGallery);
  }

  completeSearch(limit: number): Promise<number> {
    return completeSearch(this.database, limit);
  }

  async listFailedImages(limit: number, before: TaskId | undefined): Promise<SucceededTask[]> {
    const tasks = await this.inOrder("newest", [FAILED_IMAGES], limit, before);
    return tasks.filter((task) => task.state === "succeeded");
  }

  /** Reads on behind rows that cannot be read: they stay the oldest ones. */
  async listKeptImages(succeededBefore: Date, limit: number): Promise<SucceededTask[]> {
    const tasks: Task[] = [];
    for (let offset = 0, size = limit; ; offset += size, size = NEXT_PAGE_SIZE) {
      const rows = await this.database.sql(
        `select * from task where ${KEPT_IMAGE} and succeeded_at < ? order by succeeded_at limit ? offset ?`,
        [succeededBefore, size, offset],
      );
      tasks.push(...this.unreadable.separate(rows, toTask).read);
      if (rows.length < size || tasks.length >= limit) break;
    }
    return tasks.filter((task) => task.state === "succeeded").slice(0, limit);
  }

  async setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>> {
    const { dialect } = this.database;
    return this.database.transaction(async (sql) => {
      const changed = await sql(
        `update task set visibility = ? where id = ? and account_id = ? and hidden_at is null
        returning id, ${IS_OUT_OF_SEARCH} as is_out_of_search`,
        [visibility, id, owner],
      );
      if (changed.length === 0) return err(notFound(`There is no task ${id}.`));
      if (changed[0]?.is_out_of_search) await updateSearch(sql, dialect, [id]);
      return ok(undefined);
    });
  }

  async hide(id: TaskId, owner: AccountId, now: Date): Promise<Result<void, NotFound>> {
    return this.database.transaction(async (sql) => {
      const hidden = await sql(
        `update task set hidden_at = ?, ${DUE_WHEN_HIDDEN}
        where id = ? and account_id = ? and hidden_at is null returning id, account_id, metadata, in_search`,
        [now, now, id, owner],
      );
      const [row] = hidden;
      if (row === undefined) return err(notFound(`There is no task ${id}.`));
      const { dialect } = this.database;
      if (row.in_search) await updateSearch(sql, dialect, [id]);
      // Long ago: its images expire now, unless they were uploaded again.
      await writeInOneRoundTrip(sql, dialect, releaseReferences({ id, accountId: owner }, new Date(0)));
      // Nobody finds it by its metadata or reads its events any more: others would have to skip them.
      await deletePairs(sql, dialect, row);
      await deleteReadEvents(sql, dialect, [id]);
      return ok(undefined);
    });
  }

  async isHidden(id: TaskId, owner: AccountId): Promise<boolean> {
    const rows = await this.database.sql(
      "select id from task where id = ? and account_id = ? and hidden_at is not null",
      [id, owner],
    );
    return rows.length === 1;
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
      if (rows.length < wanted || leases.length === limit) break;
    }
    if (leases.length > 0) this.observer?.claimed(work, leases.length);
    return leases;
  }

  move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>> {
    return this.moveAs({ current, next, dueAt });
  }

  moveWithinLease(current: Lease<Task>, next: Task, until: Date): Promise<Result<void, StaleTask>> {
    return this.moveAs({ current, next, dueAt: until, leasedUntil: until });
  }

  async lease({ id }: SubmittedTask, now: Date, until: Date): Promise<Lease<SubmittedTask> | undefined> {
    const [row] = await this.database.sql(
      `update task set ${LEASE} where id = ? and state = 'submitted' and hidden_at is null and ${IS_FREE} returning *`,
      [until, until, id, now],
    );
    // The statement leases a submitted task only.
    return row && { task: toTask(row) as SubmittedTask, fence: integer(row, "fence") };
  }

  async recordCancelWish(task: ReservedTask | SubmittedTask, now: Date): Promise<Result<void, StaleTask>> {
    const { id, state } = task;
    const refusedAt = task.cancelWish?.refusedAt;
    const [sameRefusal, refusal] = refusedAt === undefined ? ["is null", []] : ["= ?", [refusedAt]];
    const [sameSubmission, submission] = "submissions" in task ? ["and submissions = ?", [task.submissions]] : ["", []];
    const rows = await this.database.sql(
      `update task set cancel_wanted_at = ?, cancel_refused_at = null,
      due_at = case when state = 'submitted' and due_at > ? then cast(? as timestamptz) else due_at end
      where id = ? and state = ? ${sameSubmission} and cancel_refused_at ${sameRefusal} and hidden_at is null
      returning id`,
      [now, now, now, id, state, ...submission, ...refusal],
    );
    return rows.length === 1 ? ok(undefined) : err({ kind: "stale_task", id });
  }

  async makeDueNow(id: TaskId, now: Date): Promise<void> {
    await this.database.sql("update task set due_at = ? where id = ? and state = 'submitted' and due_at > ?", [
      now,
      id,
      now,
    ]);
  }

  /** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
  async bringForward(work: keyof DueWork, bounds: () => DueBounds): Promise<void> {
    const before = bounds();
    const rows = `select id, due_at, leased_until from task where ${rowsOfWork[work]} and due_at is not null`;
    // The second part: somebody has wanted a leased task earlier, and the clock was set back since it was leased.
    const late = await this.database.sql(
      `select * from (${rows} and due_at > ? limit ?) as due union all
      select * from (${rows} and due_at <= ? and leased_until > ? limit ?) as wanted`,
      [before.latest, LATE_PER_STATEMENT, before.now, before.latest, LATE_PER_STATEMENT],
    );
    if (late.length === 0) return;
    const { latest, dueAt } = bounds();
    const row = "(cast(? as text), cast(? as timestamptz), cast(? as timestamptz))";
    await this.database.sql(
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

  async postpone(postponements: readonly Postponement[]): Promise<void> {
    await this.giveBack(postponements.map(({ lease: { task, fence }, dueAt }) => [task.id, task.state, fence, dueAt]));
  }

  async forgetIdempotencyKeys(before: Date): Promise<void> {
    await this.database.sql(
      `delete from idempotency_key where (account_id, key) in (
        select account_id, key from idempotency_key where created_at < ? order by created_at limit ${FORGOTTEN_MAX}
        ${skipLocked(this.database.dialect)}
      )`,
      [before],
    );
  }

  eraseTexts(before: Date, limit: number, now: Date): Promise<number> {
    return eraseTexts(this.database, before, limit, now);
  }

  private moveAs(move: Move): Promise<Result<void, StaleTask>> {
    const { database, turns, clock, observer } = this;
    return moveTask({ database, turns, clock, observer }, move);
  }

  private claimRows(work: keyof DueWork, now: Date, until: Date, limit: number): Promise<Row[]> {
    const skipped = this.unreadable.skipped(now);
    const { dialect } = this.database;
    const others = skipped.length === 0 ? "" : `and not (${isAmong("id", dialect)})`;
    return this.database.sql(
      `with due as (
        select id from task where ${rowsOfWork[work]} and due_at <= ? and due_at is not null and ${IS_FREE} ${others}
        order by due_at limit ? ${skipLocked(this.database.dialect)}
      )
      update task set ${LEASE} where id in (select id from due) returning *`,
      [now, now, ...(skipped.length === 0 ? [] : [listOf(skipped, dialect)]), limit, until, until],
    );
  }

  /**
   * Returns the leases at once, so that an instance that can read the rows may claim them. This instance skips them for a
   * while, because they would be the first of every claim. A lease that it does not remember expires.
   */
  private async leaveToOthers(rows: readonly Row[], now: Date): Promise<void> {
    const skipped = this.unreadable.skip(rows, now);
    if (skipped.length > 0) await this.giveBack(skipped.map(({ id, state, fence }) => [id, state, fence, now]));
  }

  /** Each row is id, state, fence and the new due time; it is ignored if the task has another state or fence now. */
  private async giveBack(rows: readonly (readonly [id: unknown, state: unknown, fence: unknown, dueAt: Date])[]) {
    const row = "(cast(? as text), cast(? as text), cast(? as integer), cast(? as timestamptz))";
    await this.database.sql(
      `with postponed (id, state, fence, due_at) as (values ${rows.map(() => row).join(", ")})
      update task set leased_until = null,
        due_at = case when task.due_at < task.leased_until and task.due_at < postponed.due_at
          then task.due_at else postponed.due_at end
      from postponed
      where task.id = postponed.id and task.state = postponed.state and task.fence = postponed.fence`,
      rows.flat(),
    );
  }

  /**
   * Reads the queue from its head until no place has a free slot. Rows that cannot be read keep their place in the queue,
   * and do not stop those behind them.
   */
  private async startNext(
    sql: Sql,
    queue: Queue,
    places: readonly ProviderPlace[],
    limit: number,
    now: Date,
  ): Promise<StartedTasks> {
    const next: QueuedTask[] = [];
    let started = startNextTasks(queue, next, places, limit);
    for (let offset = 0, size = limit; started.hasRoom; offset += size, size = NEXT_PAGE_SIZE) {
      const rows = await sql(
        `select * from task where state = 'queued' and due_at > ? and ${IS_FREE}
        order by turn, id limit ? offset ? ${skipLocked(this.database.dialect)}`,
        [now, now, size, offset],
      );
      // The statement reads queued tasks only.
      next.push(...this.unreadable.separate(rows, (row) => toTask(row) as QueuedTask).read);
      started = startNextTasks(queue, next, places, limit);
      if (rows.length < size) break;
    }
    return started;
  }

  /** Reads on until it has `limit` tasks or there are no more: a shorter answer would look like the last page. */
  private async inOrder(
    first: "newest" | "oldest",
    ranges: readonly TaskRange[],
    limit: number,
    beyond: TaskId | undefined,
  ): Promise<Task[]> {
    const tasks: Task[] = [];
    for (let last: unknown = beyond, size = limit; ; size = NEXT_PAGE_SIZE) {
      const { text: statement, parameters } = pageOf(ranges, first, last, size);
      const rows = await this.database.sql(statement, parameters);
      tasks.push(...this.unreadable.separate(rows, toTask).read);
      if (rows.length < size || tasks.length >= limit) return tasks.slice(0, limit);
      last = rows.at(-1)?.id;
    }
  }
}

const GALLERY: TaskRange = { from: TASKS, conditions: IN_GALLERY, parameters: [] };
const FAILED_IMAGES: TaskRange = { from: TASKS, conditions: FAILED_IMAGE, parameters: [] };

/** Selects the first rows of all ranges together. Of several, each is read only as far as the page could reach. */
const pageOf = (ranges: readonly TaskRange[], first: "newest" | "oldest", beyond: unknown, size: number): Statement => {
  const parts = ranges.map(({ from, conditions, parameters }) => {
    const { rest, direction } = inDirection(first, beyond, from);
    return {
      text: `from ${from.tables} where ${conditions} ${rest.text} order by ${from.id} ${direction} limit ?`,
      parameters: [...parameters, ...rest.parameters, size],
    };
  });
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return { ...only, text: `select task.* ${only.text}` };
  const ids = parts.map(({ text: part }, index) => `select id from (select task.id ${part}) as range_${index}`);
  return {
    // `cross join`: SQLite reads the ids first, and then their rows.
    text: `select task.* from (${ids.join(" union all ")}) as page cross join task where task.id = page.id
      order by page.id ${first === "newest" ? "desc" : "asc"} limit ?`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), size],
  };
};

/** What orders a list, and narrows it to what comes after the task `last`. */
const inDirection = (first: "newest" | "oldest", last: unknown, { id, beyond }: Source) => {
  const direction = first === "newest" ? "desc" : "asc";
  if (beyond !== undefined && last !== undefined) return { rest: beyond(first, last), direction };
  return { rest: (first === "newest" ? olderThan : newerThan)(last, id), direction };
};
