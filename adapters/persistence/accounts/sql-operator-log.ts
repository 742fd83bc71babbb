import type {
  NewOperatorAction,
  OperatorAction,
  OperatorActionId,
  OperatorLog,
} from "../../../application/ports/stores/operator-log.js";
import { EntityStore } from "../database/orm/entities.js";
import { OperatorActionTable } from "../database/orm/entity-tables.js";
import { date, integer, optional, pairs, text } from "../database/sql/columns.js";

/** The log of operators in SQLite or PostgreSQL. */
export class SqlOperatorLog extends EntityStore implements Omit<OperatorLog, "deleteBefore"> {
  async begin({ at, operator, command, arguments: given }: NewOperatorAction): Promise<OperatorActionId> {
    const id = await this.entities.insert(OperatorActionTable, {
      at,
      operator,
      command,
      arguments: JSON.stringify(given),
    });
    return Number(id) as OperatorActionId;
  }

  async end(id: OperatorActionId, outcome: string): Promise<void> {
    await this.entities.nativeUpdate(OperatorActionTable, { id }, { outcome });
  }

  async list(limit: number, before: OperatorActionId | undefined): Promise<OperatorAction[]> {
    const wanted = before === undefined ? {} : { id: { $lt: before } };
    const actions = await this.entities.find(OperatorActionTable, wanted, { orderBy: { id: "desc" }, limit });
    return actions.map((action) => ({
      id: integer(action, "id") as OperatorActionId,
      at: date(action, "at"),
      operator: text(action, "operator"),
      command: text(action, "command"),
      arguments: pairs(action, "arguments", {}),
      outcome: optional(action, "outcome", text),
    }));
  }
}
