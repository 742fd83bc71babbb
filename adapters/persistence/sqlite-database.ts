import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { ok, type Result } from "neverthrow";
import type { RequestKind } from "../../domain/panorama-policy.js";
import type { Row } from "./columns.js";
import type { Database, Sql } from "./database.js";
import { isUpToDate, MIGRATION_TABLE } from "./migration-steps.js";
import { SqliteConnection } from "./sqlite-connection.js";

/** Opens the SQLite file, creates it if necessary and migrates its tables. Throws an error that names the file. */
export const openSqliteDatabase = async (file: string): Promise<SqliteDatabase> => {
  try {
    await mkdir(dirname(file), { recursive: true });
    // Loading the ORM takes longer than everything else at the start, and there is rarely anything to migrate.
    if (!isMigrated(file)) await (await import("./migrate-sqlite.js")).migrateSqlite(file);
    return new SqliteDatabase(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause: error });
  }
};

const isMigrated = (file: string): boolean => {
  const connection = new SqliteConnection(file);
  try {
    const table = connection.all("select name from sqlite_master where name = ?", [MIGRATION_TABLE]);
    return table.length > 0 && isUpToDate(connection.all(`select name from ${MIGRATION_TABLE}`, []));
  } finally {
    connection.close();
  }
};

/** How long a write waits for another process that writes to the same file. */
const BUSY_MILLISECONDS = 10_000;
const BUSY_PAUSE_MILLISECONDS = 5;

/** Transactions that share one commit at most; more would make the first one wait too long. */
const GROUP_MAX = 128;

/** So many writes may always wait, and any number that takes no longer than this. */
const WAITING_MIN = 64;
const WAIT_MILLISECONDS_MIN = 50;

type Queued = {
  /** Runs inside the group's transaction. A thrown error or an `Err` undoes what this one has written, and nothing else. */
  readonly run: (sql: Sql) => Promise<Result<unknown, unknown>>;
  readonly settle: (outcome: Outcome) => void;
};
type Outcome = { readonly result: Result<unknown, unknown> } | { readonly thrown: unknown };

/**
 * A SQLite file. The driver is synchronous: a statement costs no thread change, and is prepared once.
 *
 * Reads use a connection of their own, so they see committed data only. Writes are **group commits**: transactions that
 * arrive while another commit is in progress share the next one, each in its own savepoint. None is answered before its
 * commit is on the disk (`synchronous = full`).
 */
export class SqliteDatabase implements Database {
  readonly dialect = "sqlite";
  private readonly file: string;
  private readonly reader: SqliteConnection;
  private readonly writer: SqliteConnection;
  private readonly queue: Queued[] = [];
  private writing: Promise<void> | undefined;
  /** The times of the last four groups, each from one to the next. */
  private groupMilliseconds: readonly number[] = [0, 0, 0, 0];

  constructor(file: string) {
    this.file = file;
    this.writer = new SqliteConnection(file);
    this.writer.execute("pragma busy_timeout = 0"); // `begin` waits instead, without blocking the event loop
    this.reader = new SqliteConnection(file);
    this.reader.execute("pragma query_only = on");
  }

  /** Statements that begin with `select` are reads; every other one is a transaction of its own. */
  readonly sql: Sql = async (statement, parameters = []) => {
    if (isRead(statement)) return this.reader.all(statement, parameters);
    const written = await this.transaction<Row[], never>(async (sql) => ok(await sql(statement, parameters)));
    return written._unsafeUnwrap();
  };

  /**
   * A number that changes with every commit, of this process or of another one: what was read while it is the same is
   * still what the database holds. The reader never writes, so it sees the commits of every other connection.
   */
  version(): number {
    return this.reader.dataVersion();
  }

  /** The first row of a statement that begins with `select`, without a promise. */
  first(select: string, parameters: readonly unknown[]): Row | undefined {
    return this.reader.first(select, parameters);
  }

  transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) =>
        "result" in outcome ? resolve(outcome.result as Result<T, E>) : reject(outcome.thrown);
      this.queue.push({ run: work, settle });
      this.writing ??= this.writeQueued();
    });
  }

  /** Every read of `work` sees the database as it was at the first one. */
  async snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const connection = new SqliteConnection(this.file);
    try {
      connection.execute("begin");
      return await work(async (statement, parameters = []) => connection.all(statement, parameters));
    } finally {
      connection.close();
    }
  }

  /** Reads do not wait for writes. A disk that pauses is no overload, so the shortest of four groups counts. */
  isOverloaded(kind: RequestKind): boolean {
    const waiting = this.queue.length;
    if (kind === "read" || waiting <= WAITING_MIN) return false;
    return (waiting / GROUP_MAX) * Math.min(...this.groupMilliseconds) > WAIT_MILLISECONDS_MIN;
  }

  async ping(): Promise<void> {
    await this.sql("select 1");
  }

  async close(): Promise<void> {
    await this.writing;
    this.reader.close();
    this.writer.close();
  }

  private async writeQueued(): Promise<void> {
    for (let begun = performance.now(); this.queue.length > 0; ) {
      await setImmediate(); // transactions of this turn of the event loop share the commit
      const group = this.queue.splice(0, GROUP_MAX);
      const outcomes = await this.commit(group).catch((thrown: unknown) => group.map(() => ({ thrown })));
      for (const [index, { settle }] of group.entries()) settle(outcomes[index] as Outcome);
      const now = performance.now();
      this.groupMilliseconds = [...this.groupMilliseconds.slice(1), now - begun];
      begun = now;
    }
    this.writing = undefined;
  }

  /** Throws if nothing of the group was committed. */
  private async commit(group: readonly Queued[]): Promise<Outcome[]> {
    await this.begin();
    try {
      const outcomes: Outcome[] = [];
      for (const { run } of group) outcomes.push(await this.runInSavepoint(run));
      this.writer.execute("commit");
      return outcomes;
    } catch (error) {
      if (this.writer.isTransaction) this.writer.execute("rollback");
      throw error;
    }
  }

  private async runInSavepoint(run: Queued["run"]): Promise<Outcome> {
    this.writer.execute("savepoint one");
    const outcome = await run(async (statement, parameters = []) => this.writer.all(statement, parameters)).then(
      (result): Outcome => ({ result }),
      (thrown: unknown): Outcome => ({ thrown }),
    );
    // Some errors (a full disk) have rolled the whole transaction back: then this throws, and all of the group fail.
    if ("thrown" in outcome || outcome.result.isErr()) this.writer.execute("rollback to one");
    this.writer.execute("release one");
    return outcome;
  }

  /** Waits without blocking the event loop while another process holds the write lock. */
  private async begin(): Promise<void> {
    const deadline = performance.now() + BUSY_MILLISECONDS;
    for (;;) {
      try {
        return this.writer.execute("begin immediate");
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
        await setTimeout(BUSY_PAUSE_MILLISECONDS);
      }
    }
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && /database is (locked|busy)/i.test(error.message);

/** Only these see nothing but committed data, on the reader's connection. */
const isRead = (statement: string): boolean => statement.startsWith("select");
