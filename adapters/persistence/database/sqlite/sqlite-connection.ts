import type { SqliteHandle, SqliteStatement, SqliteValue } from "../schema/installation.js";
import { MIGRATION_TABLE } from "../schema/migration-steps.js";
import type { TableNames } from "../schema/table-names.js";
import type { Row } from "../sql/columns.js";
import { type RowMaker, rowMaker } from "../sql/row-maker.js";
import { isWorthPreparing } from "../sql/statement.js";

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

  first(statement: string, parameters: readonly unknown[]): Row | undefined {
    const { prepared, toRow } = this.prepared(statement);
    const values = prepared.get(...parameters.map(bound)) as unknown as Values | undefined;
    return values && toRow(values);
  }

  execute(statement: string): void {
    this.prepared(statement).prepared.run();
  }

  /** The rows of the table that records the migrations; none if it does not exist. */
  recordedSteps(): readonly Row[] {
    const table = this.all("select name from sqlite_master where name = ?", [this.nameOf(MIGRATION_TABLE)]);
    return table.length === 0 ? [] : this.all(`select name from ${MIGRATION_TABLE}`, []);
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

function bound(parameter: unknown): SqliteValue {
  if (parameter instanceof Date) return parameter.getTime();
  return (typeof parameter === "boolean" ? Number(parameter) : parameter) as SqliteValue;
}
