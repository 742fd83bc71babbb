import type { TaskPorts } from "../../../../application/ports/stores/stores.js";
import type { Database } from "../../sql/database.js";
import { type SqlTaskOptions, sqlTaskContext } from "./sql-task-context.js";
import { sqlTaskLists } from "./sql-task-lists.js";
import { sqlTaskQueue } from "./sql-task-queue.js";
import { sqlTaskStore } from "./sql-task-store.js";
import { sqlTaskWork } from "./sql-task-work.js";

/** Tasks in SQLite or PostgreSQL. */
export const sqlTasks = (database: Database, options: SqlTaskOptions = {}): TaskPorts => {
  const context = sqlTaskContext(database, options);
  return {
    ...sqlTaskStore(context),
    ...sqlTaskQueue(context),
    ...sqlTaskWork(context),
    ...sqlTaskLists(context),
  };
};
