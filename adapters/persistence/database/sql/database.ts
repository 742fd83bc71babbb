import { ok, type Result } from "neverthrow";
import type { Awaitable } from "../../../../application/awaitable.js";
import type { RequestKind } from "../../../../domain/panorama-policy.js";

/** The SQL dialect of a statement. */
export type Dialect = "sqlite" | "postgresql";

/** A row as the driver returns it: depending on the dialect, dates are milliseconds or text, JSON is text or parsed. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs one statement and returns its rows, including those of `returning`. Dates are passed as `Date`. Tables have the
 * names of `migration-steps.ts`: the schema or the prefix of an installation is added when the statement is prepared.
 */
export type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** An open database (`openDatabase`). Statements go to prepared statements of the driver, also those of the ORM. */
export interface Database {
  readonly dialect: Dialect;
  readonly sql: Sql;
  /**
   * Commits if `work` returns Ok; rolls back if it returns Err or throws. `work` must begin with a write, and must wait
   * for nothing but its own statements. If PostgreSQL aborts the transaction, `work` runs again, at most five times.
   */
  transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>>;
  /** All reads of `work` see the database as of the first read. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** True if so much work waits that new requests of this kind should be refused. Costs nothing. */
  isOverloaded(kind: RequestKind): boolean;
  /** Throws if the database cannot be reached, and `StoreFull` if the disk of a SQLite file has no room. */
  ping(): Promise<void>;
  /** Waits for the work in progress. Closes the connections, unless they belong to an embedder. */
  close(): Promise<void>;
}

/** `Database.transaction` for work that refuses nothing. */
export async function inTransaction<T>(
  database: Pick<Database, "transaction">,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const done = await database.transaction<T, never>(async (sql) => ok(await work(sql)));
  return done._unsafeUnwrap();
}

/** A SQLite database answers without a promise where it can. */
export interface SynchronousReads {
  readonly dialect: "sqlite";
  /** The first row of a statement that begins with `select`, for what a request reads first. */
  first(select: string, parameters: readonly unknown[]): Awaitable<Row | undefined>;
}

/** An open SQLite or PostgreSQL database. */
export type AnyDatabase = (Database & { readonly dialect: "postgresql" }) | (Database & SynchronousReads);
