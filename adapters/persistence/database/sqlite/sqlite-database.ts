import { setImmediate } from "node:timers/promises";
import type { Result } from "neverthrow";
import type { Awaitable } from "../../../../application/awaitable.js";
import type { RequestKind } from "../../../../domain/panorama-policy.js";
import { TURN_MILLISECONDS } from "../../../system/short-turn.js";
import { pendingSteps } from "../schema/migration-steps.js";
import type { Step } from "../schema/step.js";
import type { Row } from "../sql/columns.js";
import { type Database, inTransaction, type Sql, type SynchronousReads } from "../sql/database.js";
import type { SqliteFile } from "./open-sqlite-file.js";
import { fullOr, requireRoom } from "./require-room.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { SqliteReader } from "./sqlite-reader.js";
import { begin, type PartOutcome, runInSavepoint } from "./sqlite-transaction.js";
import { WriteAheadLog } from "./write-ahead-log.js";

/** Requests read keys and tasks in no order: 100,000 accounts with a task of each take 100 MiB. */
const READER_CACHE_KIBIBYTES = 96 * 1024;

/** A snapshot reads each row once. */
const SNAPSHOT_CACHE_KIBIBYTES = 2 * 1024;

/** A write-ahead log of this many pages is moved into the file. SQLite does so at the same length. */
const LOG_PAGES_MAX = 1000;

/** Transactions that share one commit at most; more would make the first one wait too long. */
const GROUP_MAX = 128;

/** The time is read after so many outcomes. Reading it after each one makes a creation some 3 % slower. */
const OUTCOMES_AT_ONCE = 8;

/** Maximum wait of a group until it is as large as the last one. */
const GATHER_MILLISECONDS = 2;

/** This many writes may always wait, and any number that takes no longer than this. */
const WAITING_MIN = 64;
const WAIT_MILLISECONDS_MIN = 50;

type Queued = {
  readonly run: (sql: Sql) => Promise<Result<unknown, unknown>>;
  readonly settle: (outcome: PartOutcome) => void;
};

/**
 * A SQLite file. The driver is synchronous: a statement costs no thread change, and is prepared once.
 *
 * Reads use a connection of their own, so they see committed data only. Writes are **group commits**: transactions that
 * arrive while another commit is in progress share the next one, each in its own savepoint. None is answered, and its
 * changes are not read, before its commit is on the disk. Threads wait for the disk and move the log into the file,
 * which takes milliseconds, while the event loop goes on with other requests. So it does between two transactions of a
 * long group, because nothing but a group uses the connection for writes.
 *
 * **On an embedder's connection** reads and writes share it with the embedder's own statements. These are never part of
 * a transaction of the stores: work waits for nothing but its own statements, which are synchronous, so from `begin` to
 * `commit` no other callback runs. A long group ends early instead, and its rest is the next one. Conversely, the
 * stores wait for a transaction that the embedder has left open, and for another process that writes. The embedder's
 * pragmas decide how durable a commit is.
 */
export class SqliteDatabase implements Database, SynchronousReads {
  readonly dialect = "sqlite";
  /** `undefined` on the connection of an embedder. */
  private readonly file: SqliteFile | undefined;
  private readonly reader: Pick<SqliteConnection, "all" | "first">;
  private readonly writer: SqliteConnection;
  /** `undefined` on the connection of an embedder. */
  private readonly own: { readonly reader: SqliteReader; readonly log: WriteAheadLog } | undefined;
  /** Why a commit may be missing on the disk: what follows it in the log would be lost with it. */
  private broken: Error | undefined;
  /**
   * Resolves when the commit on its way to the disk is there. Until then reads see nothing newer, also what another
   * process has committed since. Who finds nothing looks again afterwards: a command may just have added the row.
   */
  private held: Promise<void> | undefined;
  private readonly queue: Queued[] = [];
  private writing: Promise<void> | undefined;
  /** Transactions that waited when the last group began. */
  private waitedLately = 0;
  private endGathering: (() => void) | undefined;
  /** The times of the last four groups, each from one to the next; of one that ended early, as if it had been full. */
  private groupMilliseconds: readonly number[] = [0, 0, 0, 0];

  /** A file of the service, or the connection of an embedder. */
  constructor(at: SqliteFile | SqliteConnection) {
    if (at instanceof SqliteConnection) {
      this.writer = at;
      this.reader = at;
      return;
    }
    this.file = at;
    this.writer = at.openWriter();
    const reader = new SqliteReader(at.open(READER_CACHE_KIBIBYTES));
    this.reader = reader;
    this.own = { reader, log: new WriteAheadLog(at.path) };
  }

  /** Statements that begin with `select` are reads; every other one is a transaction of its own. */
  readonly sql: Sql = async (statement, parameters = []) => {
    if (isRead(statement)) {
      const rows = this.reader.all(statement, parameters);
      if (rows.length > 0 || this.held === undefined) return rows;
      await this.held;
      return this.reader.all(statement, parameters);
    }
    return inTransaction(this, (sql) => sql(statement, parameters));
  };

  first(select: string, parameters: readonly unknown[]): Awaitable<Row | undefined> {
    const row = this.reader.first(select, parameters);
    if (row !== undefined || this.held === undefined) return row;
    return this.held.then(() => this.reader.first(select, parameters));
  }

  transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: PartOutcome) =>
        "result" in outcome ? resolve(outcome.result as Result<T, E>) : reject(fullOr(outcome.thrown));
      this.queue.push({ run: work, settle });
      this.writing ??= this.writeQueued();
      if (this.queue.length >= this.waitedLately) this.endGathering?.();
    });
  }

  /** Every read of `work` sees the database as it was at the first one. */
  async snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.file === undefined) return this.snapshotOnSharedConnection(work);
    await this.writing; // all commits are on the disk
    const connection = this.file.open(SNAPSHOT_CACHE_KIBIBYTES);
    try {
      connection.execute("begin");
      return await work(async (statement, parameters = []) => connection.all(statement, parameters));
    } finally {
      connection.close();
    }
  }

  /** True if these migrations have run. */
  isMigrated(steps: readonly Step[]): boolean {
    return pendingSteps(this.writer.recordedSteps(), steps).length === 0;
  }

  /** Reads do not wait for writes. A disk that pauses is no overload, so the shortest of four groups counts. */
  isOverloaded(kind: RequestKind): boolean {
    const waiting = this.queue.length;
    if (kind === "read" || waiting <= WAITING_MIN) return false;
    return (waiting / GROUP_MAX) * Math.min(...this.groupMilliseconds) > WAIT_MILLISECONDS_MIN;
  }

  /** A reader and a writer; reads wait for nothing. */
  get load() {
    const idleConnections = this.writing === undefined ? 2 : 1;
    return { connections: 2, idleConnections, connectionsMax: 2, waiting: this.queue.length };
  }

  async ping(): Promise<void> {
    await this.sql("select 1");
    if (this.broken !== undefined) throw this.broken;
    if (this.file !== undefined) await requireRoom(this.file.path);
  }

  async close(): Promise<void> {
    await this.writing;
    this.own?.reader.close();
    await this.own?.log.close();
    this.checkpoint("truncate");
    this.writer.close();
  }

  /**
   * Writes the log into the file itself. `truncate`: everything, so that the file alone is the whole database: whoever
   * copies it after a stop may forget the write-ahead log beside it. `noop` only tells the length of the log, in pages.
   * Gives up at once if another process is reading or writing.
   */
  private checkpoint(mode: "noop" | "truncate"): Row | undefined {
    try {
      return this.writer.first(`pragma wal_checkpoint(${mode})`, []);
    } catch {
      // A statement of this connection is not finished, or the disk is full. The log keeps what is not in the file.
      return undefined;
    }
  }

  private async snapshotOnSharedConnection<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    await setImmediate(); // begins in a callback of its own, in which nothing else runs
    await begin(this.writer, "begin");
    try {
      return await work(async (statement, parameters = []) => this.reader.all(statement, parameters));
    } finally {
      this.writer.execute("commit");
    }
  }

  private async writeQueued(): Promise<void> {
    for (let begun = performance.now(); this.queue.length > 0; ) {
      if (this.own !== undefined) await this.gather();
      // Transactions of this turn of the event loop share the commit, in a callback of its own.
      await setImmediate();
      this.waitedLately = Math.min(this.queue.length, GROUP_MAX);
      const group = this.queue.splice(0, GROUP_MAX);
      const outcomes = await this.commit(group).catch((thrown: unknown) => group.map(() => ({ thrown })));
      const rest = group.splice(outcomes.length);
      this.queue.unshift(...rest);
      await this.settle(group, outcomes);
      // The next group waits: what it wrote meanwhile would stay in the log, which would never begin anew.
      if (Number(this.own && this.checkpoint("noop")?.log) >= LOG_PAGES_MAX) await this.own?.log.shorten();
      const now = performance.now();
      const fullGroups = rest.length > 0 ? group.length / GROUP_MAX : 1;
      this.groupMilliseconds = [...this.groupMilliseconds.slice(1), (now - begun) / fullGroups];
      begun = now;
    }
    this.writing = undefined;
  }

  /**
   * Whoever was answered by the last commit often comes back at once. Without a pause, those who came while a thread
   * waited for the disk would be the next group, and two half-filled groups would alternate.
   */
  private async gather(): Promise<void> {
    if (this.queue.length >= this.waitedLately) return;
    await new Promise<void>((resolve) => {
      this.endGathering = resolve;
      setTimeout(resolve, GATHER_MILLISECONDS);
    });
    this.endGathering = undefined;
  }

  /** What goes on with an outcome takes time of the turn, too. */
  private async settle(group: readonly Queued[], outcomes: readonly PartOutcome[]): Promise<void> {
    let turnSince = performance.now();
    for (const [index, { settle }] of group.entries()) {
      settle(outcomes[index] as PartOutcome);
      if ((index + 1) % OUTCOMES_AT_ONCE !== 0) continue;
      await new Promise<void>((resolve) => process.nextTick(resolve)); // after all that goes on at once
      if (performance.now() - turnSince <= TURN_MILLISECONDS) continue;
      await setImmediate();
      turnSince = performance.now();
    }
  }

  /** Throws if nothing of the group was committed. The outcomes are those of its first transactions, at least one. */
  private async commit(group: readonly Queued[]): Promise<PartOutcome[]> {
    if (this.broken !== undefined) throw this.broken;
    let release = () => {};
    await begin(this.writer, "begin immediate");
    try {
      const outcomes: PartOutcome[] = [];
      let turnSince = performance.now();
      for (const { run } of group) {
        if (performance.now() - turnSince > TURN_MILLISECONDS) {
          if (this.own === undefined) break;
          await setImmediate();
          turnSince = performance.now();
        }
        outcomes.push(await runInSavepoint(this.writer, run));
      }
      this.own?.reader.hold();
      this.held = new Promise((resolve) => {
        release = resolve;
      });
      this.writer.execute("commit");
      await this.own?.log.sync().catch((error: Error) => {
        this.broken = new Error("The disk of the SQLite file has failed. Restart the service.", { cause: error });
        throw this.broken;
      });
      return outcomes;
    } catch (error) {
      if (this.writer.isTransaction) this.writer.execute("rollback");
      throw error;
    } finally {
      this.own?.reader.release();
      this.held = undefined;
      release();
    }
  }
}

/** Only these see nothing but committed data, on the reader's connection. */
const isRead = (statement: string): boolean => statement.startsWith("select");
