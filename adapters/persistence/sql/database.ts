import type { Result } from "neverthrow";
import type { RequestKind } from "../../../domain/panorama-policy.js";

/** Which of the two databases understands a statement. */
export type Dialect = "sqlite" | "postgresql";

/** A row as the driver returns it: depending on the dialect, dates are milliseconds or text, JSON is text or parsed. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs one statement and returns its rows, including those of `returning`. Dates are passed as `Date`. Tables have the
 * names of `migration-steps.ts`: the schema or the prefix of an installation is added when the statement is prepared.
 */
export type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/**
 * An open database (`openDatabase`). Statements go to prepared statements of the driver: no query builder, no entities,
 * so that a read by primary key costs exactly one statement. The ORM owns the schema and the migrations.
 */
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
  /** Whether so much work waits that new requests of this kind should be refused. Costs nothing. */
  isOverloaded(kind: RequestKind): boolean;
  /** Throws if the database cannot be reached, and `StoreFull` if the disk of a SQLite file has no room. */
  ping(): Promise<void>;
  /** Waits for the work in progress. Closes the connections, unless they belong to an embedder. */
  close(): Promise<void>;
}

/** The rows of a table, as far as these columns are concerned. `name`: the column that names a row. */
export type WatchedRows = { readonly table: string; readonly name: string; readonly columns: readonly string[] };

/** A SQLite database also answers without a promise, and tells whether what was read before is still valid. */
export interface SynchronousReads {
  readonly dialect: "sqlite";
  /** The first row of a statement that begins with `select`, for what a request reads first. */
  first(select: string, parameters: readonly unknown[]): Row | undefined;
  /**
   * Calls back when reads see a commit of this process, once for each of these rows that it has changed or deleted,
   * as soon as `versionOfOthers` has returned a number. Never on the connection of an embedder.
   */
  onChange(watched: readonly WatchedRows[], forget: (name: string) => void): void;
  /**
   * A value that changes with every commit of another process, from the turn of the event loop on in which reads see
   * it. While it is the same, and `onChange` tells of nothing, what was read is what a read would give. `NaN`, which
   * equals nothing, if that cannot be told.
   */
  versionOfOthers(): number;
}

/** An open SQLite or PostgreSQL database. */
export type AnyDatabase = (Database & { readonly dialect: "postgresql" }) | (Database & SynchronousReads);
