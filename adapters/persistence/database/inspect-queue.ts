import { entitiesOf } from "./orm/entities.js";
import { TaskTable } from "./schema/schema.js";
import { date } from "./sql/columns.js";
import type { Database } from "./sql/database.js";

/** The tasks in the queue. `oldest`: when the first of them was reserved; `undefined` if none waits. */
export type QueueInspection = { readonly waiting: number; readonly oldest: Date | undefined };

export const inspectQueue = async (database: Pick<Database, "dialect" | "sql">): Promise<QueueInspection> => {
  const queued = { state: "queued" };
  const waiting = await entitiesOf(database).count(TaskTable, queued);
  const first = { fields: ["reservedAt"], orderBy: { reservedAt: "asc" }, limit: 1 } as const;
  const [oldest] = await entitiesOf(database).find(TaskTable, queued, first);
  return { waiting, oldest: oldest && date(oldest, "reservedAt") };
};
