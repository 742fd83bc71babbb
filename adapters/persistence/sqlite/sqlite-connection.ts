import { DatabaseSync } from "@photostructure/sqlite";
import type { SqliteHandle, SqliteStatement, SqliteValue } from "../schema/installation.js";
import { OWN_DATABASE, type TableNames } from "../schema/table-names.js";
import type { Row } from "../sql/columns.js";
import { type RowMaker, rowMaker } from "../sql/row-maker.js";
import { isWorthPreparing } from "../sql/statement.js";

/** How long a statement blocks the process while another one has locked the file, as happens when it is opened. */
const BUSY_MILLISECONDS = 10_000;

/** Pages kept in memory; SQLite's own 2 MiB hold the tasks of a few thousand customers only. Used as far as needed. */
const CACHE_KIBIBYTES = 32 * 1024;

/** Opens a file of the service, with the service's settings. */
export const openSqliteFile = (file: string, cacheKibibytes = CACHE_KIBIBYTES): SqliteConnection => {
  const database = openFile(file, cacheKibibytes);
  return new SqliteConnection(database, OWN_DATABASE, () => database.close());
};

/** A function for triggers of the writer. */
export const ROW_CHANGED = "panorama_row_changed";

/** Opens a file for writes. `changed` is called with what a trigger passes to `ROW_CHANGED`. */
export const openSqliteWriter = (file: string, changed: (name: string) => void): SqliteConnection => {
  const database = openFile(file, CACHE_KIBIBYTES);
  database.function(ROW_CHANGED, changed);
  database.exec("pragma busy_timeout = 0"); // `begin` waits instead, without blocking the event loop
  return new SqliteConnection(database, OWN_DATABASE, () => database.close());
};

const openFile = (file: string, cacheKibibytes: number): InstanceType<typeof DatabaseSync> => {
  const database = new DatabaseSync(file, { timeout: BUSY_MILLISECONDS });
  // Full: data is on the disk before a customer receives the response, so that it survives a power failure.
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  database.exec(`pragma cache_size = -${cacheKibibytes}`);
  return database;
};

/** One connection to a SQLite database, with its prepared statements. Every call is synchronous. */
export class SqliteConnection {
  readonly close: () => void;
  private readonly database: SqliteHandle;
  private readonly names: TableNames;
  private readonly statements = new Map<string, Statement>();

  /** Without `close` the connection belongs to an embedder, and stays open. */
  constructor(database: SqliteHandle, names: TableNames, close = () => {}) {
    this.database = database;
    this.names = names;
    this.close = close;
  }

  /** The full name of a table. */
  nameOf(table: string): string {
    return this.names.of(table);
  }

  get isTransaction(): boolean {
    return this.database.isTransaction;
  }

  /** Runs any statement and returns its rows. Dates are stored as milliseconds. */
  all(statement: string, parameters: readonly unknown[]): Row[] {
    const { prepared, toRow } = this.prepared(statement);
    return (prepared.all(...parameters.map(bound)) as unknown as Values[]).map(toRow);
  }

  /** The first row of a statement. */
  first(statement: string, parameters: readonly unknown[]): Row | undefined {
    const { prepared, toRow } = this.prepared(statement);
    const values = prepared.get(...parameters.map(bound)) as unknown as Values | undefined;
    return values && toRow(values);
  }

  /** Changes when another connection has committed. */
  dataVersion(): number {
    return this.first("pragma data_version", [])?.data_version as number;
  }

  execute(statement: string): void {
    this.prepared(statement).prepared.run();
  }

  private prepared(statement: string): Statement {
    const kept = this.statements.get(statement);
    if (kept !== undefined) return kept;
    const prepared = this.database.prepare(this.names.inStatement(statement));
    prepared.setReturnArrays(true);
    const made = { prepared, toRow: rowMaker(prepared.columns().map(({ name }) => name)) };
    if (isWorthPreparing(statement)) this.statements.set(statement, made);
    return made;
  }
}

type Values = readonly unknown[];

type Statement = {
  readonly prepared: SqliteStatement;
  readonly toRow: RowMaker;
};

const bound = (parameter: unknown): SqliteValue => {
  if (parameter instanceof Date) return parameter.getTime();
  return (typeof parameter === "boolean" ? Number(parameter) : parameter) as SqliteValue;
};
