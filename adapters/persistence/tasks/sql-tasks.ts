import type { TaskPorts } from "../../../application/ports/stores/stores.js";
import { SystemClock } from "../../system/system-clock.js";
import type { Database } from "../database/sql/database.js";
import { AccountWrites } from "./account-writes.js";
import type { SqlTaskContext, SqlTaskOptions } from "./sql-task-context.js";
import { sqlTaskLists } from "./sql-task-lists.js";
import { sqlTaskQueue } from "./sql-task-queue.js";
import { sqlTaskStore } from "./sql-task-store.js";
import { sqlTaskWork } from "./sql-task-work.js";
import { UnreadableTasks } from "./unreadable-tasks.js";

/** Tasks in SQLite or PostgreSQL. */
export function sqlTasks(
  database: Database,
  { reporter = { report: () => {} }, observer, clock = new SystemClock() }: SqlTaskOptions = {},
): TaskPorts {
  const unreadable = new UnreadableTasks(reporter);
  const context: SqlTaskContext = { database, writes: new AccountWrites(), unreadable, observer, clock };
  return {
    ...sqlTaskStore(context),
    ...sqlTaskQueue(context),
    ...sqlTaskWork(context),
    ...sqlTaskLists(context),
  };
}
