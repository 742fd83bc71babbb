import type { Task } from "../../../domain/tasks/task.js";
import { OPEN_REPORT } from "../schema/indexed-conditions.js";
import { date, integer, optional, type Row } from "../sql/columns.js";
import type { Sql } from "../sql/database.js";

/** Unfinished work of one kind. At most `BACKLOG_COUNT_MAX` rows of it are counted, those that are due first. */
export type Unfinished = {
  readonly waiting: number;
  /** When the oldest of them began; `undefined` if there is none. */
  readonly oldest: Date | undefined;
  /** When the first of them is or was due; `undefined` if there is none. */
  readonly dueAt: Date | undefined;
};

/** What all instances together have not finished. */
export type Backlog = {
  /** By state. A succeeded task counts while its image has to be stored, or to be erased. */
  readonly tasks: ReadonlyMap<Task["state"], Unfinished>;
  /** Webhooks that are not delivered yet and will be tried. */
  readonly deliveries: Unfinished;
  /** Panoramas with reports about which no operator has decided, at most `BACKLOG_COUNT_MAX`. */
  readonly reported: number;
};

/** At most this many rows of a kind are read, so that the cost has a bound. */
export const BACKLOG_COUNT_MAX = 10_000;

/** The states with background work: all tasks in them have a due time. */
const UNFINISHED_STATES = ["queued", "reserved", "submitted", "generated", "succeeded"] as const;

const summary = (rows: string, order = "due_at"): string =>
  `select cast(count(*) as integer) as waiting, min(began_at) as oldest, min(due_at) as first_due from (
    ${rows} order by ${order} limit ${BACKLOG_COUNT_MAX}
  ) as unfinished`;

/** What is to be erased has waited since its deletion. */
const TASKS = summary(
  "select coalesce(hidden_at, reserved_at) as began_at, due_at from task where state = ? and due_at is not null",
);
/** Work for a slow or unknown receiver is due when that receiver is tried next. */
const DELIVERIES = summary(
  `select at as began_at, case when next_at > due_at then next_at else due_at end as due_at from webhook_delivery
    join event on event.account_id = webhook_delivery.account_id and event.number = webhook_delivery.number
    left join webhook_receiver on webhook_receiver.name = webhook_delivery.lane
    where due_at is not null`,
  "webhook_delivery.due_at", // its index: what is selected as `due_at` has none
);

const REPORTED = `select cast(count(distinct task_id) as integer) as reported from (
    select task_id from report where ${OPEN_REPORT} limit ${BACKLOG_COUNT_MAX}
  ) as open_reports`;

/** Reads indexes of unfinished rows only (`task_due_index`, `webhook_delivery_due_index`), never the whole tables. */
export const readBacklog = async (sql: Sql): Promise<Backlog> => {
  const read = async (statement: string, parameters: readonly unknown[]): Promise<Unfinished> => {
    const [row = {}] = await sql(statement, parameters);
    return toUnfinished(row);
  };
  const [deliveries, [waiting = {}], ...tasks] = await Promise.all([
    read(DELIVERIES, []),
    sql(REPORTED, []),
    ...UNFINISHED_STATES.map(async (state) => [state, await read(TASKS, [state])] as const),
  ]);
  return { deliveries, reported: integer(waiting, "reported"), tasks: new Map(tasks) };
};

const toUnfinished = (row: Row): Unfinished => ({
  waiting: integer(row, "waiting"),
  oldest: optional(row, "oldest", date),
  dueAt: optional(row, "first_due", date),
});
