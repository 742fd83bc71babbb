import { setTimeout as pause, setImmediate } from "node:timers/promises";
import type { Result } from "neverthrow";
import type { Awaitable } from "../../../../application/awaitable.js";
import { StoreBusy } from "../../../../application/ports/stores/store-errors.js";
import type { RequestKind } from "../../../../domain/panorama-policy.js";
import { TURN_MILLISECONDS } from "../../../system/short-turn.js";
import type { SqliteInstallation } from "../schema/installation.js";
import { MIGRATION_TABLE, pendingSteps } from "../schema/migration-steps.js";
import type { Step } from "../schema/step.js";
import { namesWithPrefix } from "../schema/table-names.js";
import type { Row } from "../sql/columns.js";
import { type Database, inTransaction, type Sql, type SynchronousReads } from "../sql/database.js";
import { isBusy } from "../sql/database-error.js";
import { type JoinedDatabase, joinedDatabase } from "../sql/joined-database.js";
import { fullOr, requireRoom } from "./require-room.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { SqliteReader } from "./sqlite-reader.js";
import { WriteAheadLog } from "./write-ahead-log.js";

/** A database on the connection of an embedder. */
export const databaseOnConnection = ({ sqlite, prefix }: SqliteInstallation): SqliteDatabase =>
  new SqliteDatabase(new SqliteConnection(sqlite, namesWithPrefix(prefix)));

/** The same tables in the transaction that is open on a connection of the embedder. */
export const joinedOnConnection = ({ sqlite, prefix }: SqliteInstallation): JoinedDatabase => {
  const connection = new SqliteConnection(sqlite, namesWithPrefix(prefix));
  const sql: Sql = async (statement, parameters = []) => {
    if (!connection.isTransaction) throw new Error("No transaction is open on this connection.");
    try {
      return connection.all(statement, parameters);
    } catch (error) {
      if (!isBusy(error)) throw fullOr(error);
      const advice = "Begin the transaction with begin immediate, which waits for it.";
      throw new StoreBusy(`Another process writes to the SQLite file. ${advice}`, { cause: error });
    }
  };
  return joinedDatabase(sqlite, { dialect: "sqlite", sql });
};

/** The rows of the table that records the migrations; none if it does not exist. */
export function recordedSteps(connection: SqliteConnection): readonly Row[] {
  const table = connection.all("select name from sqlite_master where name = ?", [connection.nameOf(MIGRATION_TABLE)]);
  return table.length === 0 ? [] : connection.all(`select name from ${MIGRATION_TABLE}`, []);
}

/** A file that this process opens itself. A connection has a cache of 32 MiB, or of `cacheKibibytes`. */
export type SqliteFile = {
  readonly path: string;
  open(cacheKibibytes?: number): SqliteConnection;
  /**
   * Opens the connection for writes. Its statements do not wait for other processes. Its commits do not wait for the
   * disk and never move the write-ahead log into the file.
   */
  openWriter(): SqliteConnection;
};

/** Maximum wait of a write for another process that writes to the same file. */
const BUSY_MILLISECONDS = 10_000;
const BUSY_PAUSE_MILLISECONDS = 5;

/** Requests read keys and tasks in no order: 100,000 accounts with a task of each take 100 MiB. */
const READER_CACHE_KIBIBYTES = 96 * 1024;

/** A snapshot reads each row once. */
const SNAPSHOT_CACHE_KIBIBYTES = 2 * 1024;

/** A write-ahead log of this many pages is moved into the file. SQLite does so at the same length. */
const LOG_PAGES_MAX = 1000;

/** Transactions that share one commit at most; more would make the first one wait too long. */
const GROUP_MAX = 128;

/** Maximum wait of a group until it is as large as the last one. */
const GATHER_MILLISECONDS = 2;

/** This many writes may always wait, and any number that takes no longer than this. */
const WAITING_MIN = 64;
const WAIT_MILLISECONDS_MIN = 50;

type Queued = {
  /** Runs inside the group's transaction. A thrown error or an `Err` undoes only what this one has written. */
  readonly run: (sql: Sql) => Promise<Result<unknown, unknown>>;
  readonly settle: (outcome: Outcome) => void;
};
type Outcome = { readonly result: Result<unknown, unknown> } | { readonly thrown: unknown };

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
      const settle = (outcome: Outcome) =>
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
    return pendingSteps(recordedSteps(this.writer), steps).length === 0;
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
    await this.begin("begin");
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
  private async settle(group: readonly Queued[], outcomes: readonly Outcome[]): Promise<void> {
    let turnSince = performance.now();
    for (const [index, { settle }] of group.entries()) {
      settle(outcomes[index] as Outcome);
      await new Promise<void>((resolve) => process.nextTick(resolve)); // after all that goes on at once
      if (performance.now() - turnSince <= TURN_MILLISECONDS) continue;
      await setImmediate();
      turnSince = performance.now();
    }
  }

  /** Throws if nothing of the group was committed. The outcomes are those of its first transactions, at least one. */
  private async commit(group: readonly Queued[]): Promise<Outcome[]> {
    if (this.broken !== undefined) throw this.broken;
    let release = () => {};
    await this.begin("begin immediate");
    try {
      const outcomes: Outcome[] = [];
      let turnSince = performance.now();
      for (const { run } of group) {
        if (performance.now() - turnSince > TURN_MILLISECONDS) {
          if (this.own === undefined) break;
          await setImmediate();
          turnSince = performance.now();
        }
        outcomes.push(await this.runInSavepoint(run));
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

  private async runInSavepoint(run: Queued["run"]): Promise<Outcome> {
    this.writer.execute("savepoint one");
    let undoneBy: unknown;
    const outcome = await run(async (statement, parameters = []) => {
      if (undoneBy !== undefined) throw undoneBy; // a further statement would be committed alone, or with another's
      try {
        return this.writer.all(statement, parameters);
      } catch (error) {
        if (!this.writer.isTransaction) undoneBy = error;
        throw error;
      }
    }).then(
      (result): Outcome => ({ result }),
      (thrown: unknown): Outcome => ({ thrown }),
    );
    // Some errors (a full disk) roll the whole transaction back: then all of the group fail, with that error.
    if (!this.writer.isTransaction) throw "thrown" in outcome ? outcome.thrown : undoneBy;
    undoneBy = new Error("A statement came after the end of its transaction.");
    if ("thrown" in outcome || outcome.result.isErr()) this.writer.execute("rollback to one");
    this.writer.execute("release one");
    return outcome;
  }

  /**
   * Waits without blocking the event loop while another process holds the write lock, or while an embedder has a
   * transaction on its connection.
   */
  private async begin(statement: string): Promise<void> {
    const deadline = performance.now() + BUSY_MILLISECONDS;
    for (;;) {
      try {
        return this.writer.execute(statement);
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() > deadline) {
          throw new StoreBusy("Another process has held the write lock of the SQLite file.", { cause: error });
        }
        await pause(BUSY_PAUSE_MILLISECONDS);
      }
    }
  }
}

/** Only these see nothing but committed data, on the reader's connection. */
const isRead = (statement: string): boolean => statement.startsWith("select");
