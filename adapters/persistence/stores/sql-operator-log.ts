import type {
  NewOperatorAction,
  OperatorAction,
  OperatorActionId,
  OperatorLog,
} from "../../../application/ports/stores/operator-log.js";
import { date, optional, pairs, type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { insertion, olderThan } from "../sql/statement.js";

/** The log of operators in SQLite or PostgreSQL. */
export class SqlOperatorLog implements OperatorLog {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async begin({ at, operator, command, arguments: given }: NewOperatorAction): Promise<OperatorActionId> {
    const row = { at, operator, command, arguments: JSON.stringify(given) };
    const { text: statement, parameters } = insertion("operator_action", row);
    const [inserted] = await this.database.sql(`${statement} returning cast(id as text) as number`, parameters);
    return numberOf(inserted ?? {});
  }

  async end(id: OperatorActionId, outcome: string): Promise<void> {
    await this.database.sql("update operator_action set outcome = ? where id = ?", [outcome, id]);
  }

  async list(limit: number, before: OperatorActionId | undefined): Promise<OperatorAction[]> {
    const older = olderThan(before);
    // PostgreSQL's driver returns a bigint as text, SQLite's as a number.
    const rows = await this.database.sql(
      `select *, cast(id as text) as number from operator_action where true ${older.text} order by id desc limit ?`,
      [...older.parameters, limit],
    );
    return rows.map((row) => ({
      id: numberOf(row),
      at: date(row, "at"),
      operator: text(row, "operator"),
      command: text(row, "command"),
      arguments: pairs(row, "arguments", {}),
      outcome: optional(row, "outcome", text),
    }));
  }
}

const numberOf = (row: Row): OperatorActionId => Number(text(row, "number")) as OperatorActionId;
