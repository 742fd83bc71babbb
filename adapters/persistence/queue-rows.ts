import type { Queue } from "../../domain/queue.js";
import { integer } from "./columns.js";
import type { Sql } from "./database.js";

/** Reads the queue and locks it until the transaction ends, so that no other transaction takes a slot or a turn. */
export const lockQueue = async (sql: Sql): Promise<Queue> => {
  const [queue] = await sql("update task_queue set round = round returning id, round");
  if (queue === undefined) throw new Error("the row of task_queue is missing");
  // A separate statement after the lock: a PostgreSQL statement only sees what was committed before it began.
  const [tasks] = await sql(
    "select cast(count(*) as integer) as running from task where state in ('reserved', 'submitted') and due_at is not null",
  );
  return { running: integer(tasks ?? {}, "running"), waiting: await anyQueued(sql), round: integer(queue, "round") };
};

export const anyQueued = async (sql: Sql): Promise<boolean> =>
  (await sql("select id from task where state = 'queued' limit 1")).length > 0;
