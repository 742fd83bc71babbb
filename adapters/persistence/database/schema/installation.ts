/** A set of tables: what the use cases of panoramas need, or what a meter needs (`SqlMeterStore`). */
export type Tables = "panoramas" | "meter";

/** A statement as it is sent to a pool. */
export interface PoolQuery {
  readonly text: string;
  readonly name?: string;
  readonly values?: unknown[];
  /** Parsers of the values of an answer, so that the pool's own type parsers do not matter. */
  readonly types?: { getTypeParser(dataType: number, format?: string): (text: string) => unknown };
}

/** The part of a client of `pg.Pool` that the stores use. */
export interface PoolClient {
  query(query: PoolQuery): Promise<{ readonly rows: Record<string, unknown>[] }>;
  release(destroy?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of `pg.Pool` (version 8) that the stores use. The embedder opens it, sets its options and closes it. */
export interface PostgresPool {
  readonly options: { readonly max: number };
  /** Number of callers that wait for a connection. */
  readonly waitingCount: number;
  query(query: PoolQuery): Promise<{ readonly rows: Record<string, unknown>[] }>;
  connect(): Promise<PoolClient>;
}

/** A value that the stores bind to a statement of SQLite. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** The part of a statement of `DatabaseSync` that the stores use. */
export interface SqliteStatement {
  all(...parameters: SqliteValue[]): unknown[];
  get(...parameters: SqliteValue[]): unknown;
  run(...parameters: SqliteValue[]): unknown;
  columns(): readonly { readonly name: string }[];
  setReturnArrays(enabled: boolean): void;
}

/**
 * The part of `DatabaseSync` that the stores use, of `@photostructure/sqlite` or of `node:sqlite` in Node.js 22.23 and
 * later. The embedder opens it, sets its pragmas and closes it.
 */
export interface SqliteHandle {
  readonly isTransaction: boolean;
  prepare(statement: string): SqliteStatement;
}

/** Tables in an embedder's PostgreSQL database. */
export interface PostgresInstallation {
  readonly pool: PostgresPool;
  /** Lower-case letters, digits and `_`. Without it, the first schema of the connections' `search_path`. */
  readonly schema?: string | undefined;
  readonly tables: readonly Tables[];
}

/** Tables in an embedder's SQLite database. */
export interface SqliteInstallation {
  readonly sqlite: SqliteHandle;
  /** The prefix of the names of tables, indexes and triggers, such as `panorama_`. Absent: no prefix. */
  readonly prefix?: string | undefined;
  readonly tables: readonly Tables[];
}

/**
 * Tables of this library in a database that belongs to an embedder. Any number of installations, with different schemas
 * or prefixes, may be in one database. They do not see each other.
 */
export type Installation = PostgresInstallation | SqliteInstallation;
