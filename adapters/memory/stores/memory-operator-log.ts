import type {
  NewOperatorAction,
  OperatorAction,
  OperatorActionId,
  OperatorLog,
} from "../../../application/ports/stores/operator-log.js";
import type { MemoryDatabase } from "./memory-database.js";

/** The log of operators in memory. */
export class MemoryOperatorLog implements OperatorLog {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async begin(action: NewOperatorAction): Promise<OperatorActionId> {
    const id = (this.database.operatorActions.length + 1) as OperatorActionId;
    this.database.operatorActions.push({ ...action, id, outcome: undefined });
    return id;
  }

  async end(id: OperatorActionId, outcome: string): Promise<void> {
    const actions = this.database.operatorActions;
    const index = actions.findIndex((action) => action.id === id);
    const action = actions[index];
    if (action !== undefined) actions[index] = { ...action, outcome };
  }

  async list(limit: number, before: OperatorActionId | undefined): Promise<OperatorAction[]> {
    return this.database.operatorActions
      .filter(({ id }) => before === undefined || id < before)
      .reverse()
      .slice(0, limit);
  }
}
