import { date, integer, optional, type Row } from "./sql/columns.js";

/** The tasks in the queue. */
export type QueueInspection = {
  readonly waiting: number;
  /** When the oldest of them was reserved; `undefined` if none waits. */
  readonly oldest: Date | undefined;
};

export const WAITING_TASKS =
  "select cast(count(*) as integer) as waiting, min(reserved_at) as oldest from task where state = 'queued'";

export const toQueueInspection = (row: Row): QueueInspection => ({
  waiting: integer(row, "waiting"),
  oldest: optional(row, "oldest", date),
});
