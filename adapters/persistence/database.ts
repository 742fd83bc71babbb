import type { Result } from "neverthrow";
import type { RequestKind } from "../../domain/panorama-policy.js";
import type { Row } from "./columns.js";
import type { Dialect } from "./migration-steps.js";

/** Runs one statement and returns its rows, including those of `returning`. Dates are passed as `Date`. */
export type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/**
 * An open database. Statements go to prepared statements of the driver: no query builder, no entities, so that a read by
 * primary key costs exactly one statement. The ORM owns the schema and the migrations.
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
  /** Throws if the database cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
