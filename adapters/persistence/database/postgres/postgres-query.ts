import pg from "pg";
import { type DriverConnection, driverQuery, valueWriter } from "../../library-internals.js";
import type { Row } from "../sql/columns.js";
import { rowMaker } from "../sql/row-maker.js";
import { parserOf } from "./postgres-types.js";

/** Turns the texts of a row into the row; changes the array. */
type RowReader = (values: (string | null)[]) => Row;

/**
 * A statement as one connection has prepared it. PostgreSQL never changes its columns (it refuses the execution with
 * 0A000 instead), so they have to be described once.
 */
export class PreparedStatement {
  /** `undefined` if the statement returns no rows. */
  reader: RowReader | undefined;
}

type QueryConfig = { readonly text: string; readonly name: string | undefined; readonly values: unknown[] };

const prepareValue = valueWriter(pg);

/**
 * One execution of a statement. The driver lets PostgreSQL describe the columns at each execution, and makes a list of
 * fields, their parsers and an empty row of that each time. This one asks only if the connection has not prepared the
 * statement yet.
 */
export class PostgresQuery extends driverQuery(pg) {
  /** `rows` would be an option of the driver. */
  readonly found: Row[] = [];
  readonly statement: PreparedStatement;
  private readonly config: QueryConfig;
  private readonly isPrepared: boolean;

  /** `prepared`: what an earlier execution on the same connection has left in `statement`. */
  constructor(config: QueryConfig, prepared: PreparedStatement | undefined, answered: (error: Error | null) => void) {
    super(config.text, config.values, answered);
    this.name = config.name;
    this.config = config;
    this.isPrepared = prepared !== undefined;
    this.statement = prepared ?? new PreparedStatement();
  }

  override prepare(connection: DriverConnection): void {
    if (!this.isPrepared) {
      super.prepare(connection);
      return;
    }
    const { name, values } = this.config;
    connection.bind({ statement: name, values, valueMapper: prepareValue });
    connection.execute({});
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.statement.reader = readerOf(fields);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.statement.reader !== undefined) this.found.push(this.statement.reader(fields));
  }
}

type Field = { readonly name: string; readonly dataTypeID: number };

function readerOf(fields: readonly Field[]): RowReader {
  const toRow = rowMaker(fields.map(({ name }) => name));
  const parsed = fields.flatMap(({ dataTypeID }, index) => {
    const parse = parserOf(dataTypeID);
    return parse === undefined ? [] : [{ index, parse }];
  });
  return (values) => {
    const row: unknown[] = values;
    for (const { index, parse } of parsed) {
      const value = values[index];
      if (typeof value === "string") row[index] = parse(value);
    }
    return toRow(row);
  };
}
