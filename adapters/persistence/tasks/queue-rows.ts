import type { TaskId } from "../../../domain/ids.js";
import type { Queue, QueuePosition } from "../../../domain/tasks/queue.js";
import { integer, optional, type Row, text } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";

/** A condition that is 1 if any task waits, and otherwise 0. */
export const ANY_QUEUED = "cast(exists (select 1 from task where state = 'queued') as integer)";

/** Reads the queue and locks it until the transaction ends, so that no other transaction takes a slot or a turn. */
export async function lockQueue(sql: Sql): Promise<Queue> {
  const round = roundOf(await sql("update task_queue set round = round returning id, round"));
  // A separate statement after the lock: a PostgreSQL statement only sees what was committed before it began.
  const [waiting = {}, ...places] = await sql(
    `select 0 as part, cast(null as text) as place, cast(count(*) as integer) as tasks from task where state = 'queued'
    union all select 1, place, cast(count(*) as integer) from task
    where state in ('submitting', 'submitted') and due_at is not null group by place
    order by 1`,
  );
  const running = new Map(places.map((row) => [optional(row, "place", text), integer(row, "tasks")]));
  return { running, waiting: integer(waiting, "tasks"), round };
}

function roundOf([queue]: readonly Row[]): number {
  if (queue === undefined) throw new Error("the row of task_queue is missing");
  return integer(queue, "round");
}

/** The current round; another transaction may end it at any time. */
export const readRound = async (sql: Sql): Promise<number> => roundOf(await sql("select round from task_queue"));

/** The position of a task that gets this turn now; the queue is locked. */
export async function positionOf(sql: Sql, { waiting }: Queue, turn: number): Promise<QueuePosition> {
  if (waiting === 0) return { turn, ahead: 0, waiting };
  const [tasks = {}] = await sql(
    "select cast(count(*) as integer) as ahead from task where state = 'queued' and turn <= ?",
    [turn],
  );
  return { turn, ahead: integer(tasks, "ahead"), waiting };
}

export const anyQueued = async (sql: Sql): Promise<boolean> =>
  (await sql("select id from task where state = 'queued' limit 1")).length > 0;

/** Counts the queued tasks that start before this turn and task. Reads at most `max` entries of the index. */
export async function countBefore(sql: Sql, turn: number, id: TaskId, max: number): Promise<number> {
  // `count(id)`: for `count(*)` SQLite asks an embedder's authorizer about a table `ahead`.
  const [tasks = {}] = await sql(
    `select cast(count(id) as integer) as tasks
    from (select id from task where state = 'queued' and (turn, id) < (?, ?) order by turn, id limit ?) as ahead`,
    [turn, id, max],
  );
  return integer(tasks, "tasks");
}
