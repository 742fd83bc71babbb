import type { Row } from "../sql/columns.js";

/** A statement with PostgreSQL's numbered parameters. */
export type PostgresStatement = {
  readonly text: string;
  /** Under this name each connection prepares it once. */
  readonly name?: string;
  /** Waits for no lock of a transaction, so other statements may be sent behind it before its answer. */
  readonly brief: boolean;
  /** The first statement of a request. If it must wait, waiting statements of work in progress go first. */
  readonly first?: boolean;
};

export type Timeouts = {
  readonly connectMilliseconds: number;
  /** Maximum wait of a statement or transaction for a connection. */
  readonly waitMilliseconds: number;
  /** A connection with a statement in progress that receives no answer for this long is closed. */
  readonly responseMilliseconds: number;
  readonly idleMilliseconds: number;
};

/** A connection that nothing else uses until it is released. */
export interface LeasedConnection {
  query(statement: PostgresStatement, parameters: readonly unknown[]): Promise<Row[]>;
  /** `broken`: the connection is closed and not used again. */
  release(broken: boolean): void;
}

/** Present use of a database by this process. */
export type DatabaseLoad = {
  readonly connections: number;
  readonly idleConnections: number;
  readonly connectionsMax: number;
  /** Statements and transactions that wait for a connection, or on SQLite for the writer. */
  readonly waiting: number;
};

/** Connections for statements: of the service, or of an embedder's pool. */
export interface Connections {
  /** Maximum number of connections. */
  readonly max: number;
  readonly isOverloaded: boolean;
  /** `undefined` for a pool of an embedder, which has metrics of its own. */
  readonly load: DatabaseLoad | undefined;
  /** Runs a statement as a transaction of its own. A connection whose statement fails gets no further one. */
  query(statement: PostgresStatement, parameters: readonly unknown[]): Promise<Row[]>;
  lease(): Promise<LeasedConnection>;
  close(): Promise<void>;
}
