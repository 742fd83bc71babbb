import { date, integer, optional } from "./sql/columns.js";
import type { Database } from "./sql/database.js";

/** The tasks in the queue. `oldest`: when the first of them was reserved; `undefined` if none waits. */
export type QueueInspection = { readonly waiting: number; readonly oldest: Date | undefined };

export async function inspectQueue({ sql }: Pick<Database, "sql">): Promise<QueueInspection> {
  const [row = {}] = await sql(
    "select cast(count(*) as integer) as waiting, min(reserved_at) as oldest from task where state = 'queued'",
  );
  return { waiting: integer(row, "waiting"), oldest: optional(row, "oldest", date) };
}
