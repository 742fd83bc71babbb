import type { Task } from "../../../domain/tasks/task.js";
import { AWAITS_OPERATOR } from "../database/schema/indexed-conditions.js";
import { date, integer, optional, type Row } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";

/** Unfinished work of one kind. At most `BACKLOG_COUNT_MAX` rows of it are counted, the first due ones. */
export type Unfinished = {
  readonly waiting: number;
  /** When the oldest of them began; `undefined` if there is none. */
  readonly oldest: Date | undefined;
  /** When the first of them is or was due; `undefined` if there is none. */
  readonly dueAt: Date | undefined;
};

/** The unfinished work of all instances together. */
export type Backlog = {
  /** By state. A succeeded task counts while its image has to be stored, and is `erasing` until that is erased. */
  readonly tasks: ReadonlyMap<Task["state"] | "erasing", Unfinished>;
  /** Webhooks that are not delivered yet and will be tried. */
  readonly deliveries: Unfinished;
  /** Orders of the last 30 days that nobody has paid and that have no checkout of a payment service. */
  readonly pendingOrders: Omit<Unfinished, "dueAt">;
};

/** At most this many rows of a kind are read, so that the cost has a bound. */
export const BACKLOG_COUNT_MAX = 10_000;

/** The states with background work: all tasks in them have a due time. */
const UNFINISHED_STATES = ["queued", "submitting", "submitted", "generated", "succeeded"] as const;

const summary = (rows: string, order = "due_at"): string =>
  `select cast(count(*) as integer) as waiting, min(began_at) as oldest, min(due_at) as first_due from (
    ${rows} order by ${order} limit ${BACKLOG_COUNT_MAX}
  ) as unfinished`;

/** A task to erase waits since its deletion, other tasks since they were reserved. */
const TASKS = `select cast(count(*) as integer) as waiting, min(began_at) as oldest, min(due_at) as first_due, erasing
  from (
    select due_at, coalesce(deleted_at, reserved_at) as began_at,
    case when deleted_at is not null then 1 else 0 end as erasing
    from task where state = ? and due_at is not null order by due_at limit ${BACKLOG_COUNT_MAX}
  ) as unfinished group by erasing`;
/** Work for a slow or unknown receiver is due when that receiver is tried next. */
const DELIVERIES = summary(
  `select at as began_at, case when next_at > due_at then next_at else due_at end as due_at from webhook_delivery
    join event on event.account_id = webhook_delivery.account_id and event.number = webhook_delivery.number
    left join webhook_receiver on webhook_receiver.name = webhook_delivery.lane
    where due_at is not null`,
  "webhook_delivery.due_at", // its index: what is selected as `due_at` has none
);

/** Older ones are given up. An order whose checkout could not be opened has none either. */
const ORDER_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;
const PENDING_ORDERS = `select cast(count(*) as integer) as waiting, min(created_at) as oldest from (
    select created_at from credit_order where ${AWAITS_OPERATOR} and created_at > ? limit ${BACKLOG_COUNT_MAX}
  ) as pending`;

/** Reads indexes of unfinished rows only (`task_due_index`, `webhook_delivery_due_index`), never the whole tables. */
export async function readBacklog(sql: Sql, now: Date): Promise<Backlog> {
  const [[deliveries = {}], [orders = {}], ...tasks] = await Promise.all([
    sql(DELIVERIES, []),
    sql(PENDING_ORDERS, [new Date(now.getTime() - ORDER_MILLISECONDS)]),
    ...UNFINISHED_STATES.map((state) => sql(TASKS, [state])),
  ]);
  const ofTasks = UNFINISHED_STATES.map((state, index) => {
    const row = tasks[index]?.find(({ erasing }) => erasing === 0);
    return [state, row === undefined ? NOTHING : toUnfinished(row)] as const;
  });
  const erasing = tasks.flat().find((row) => row.erasing === 1);
  return {
    deliveries: toUnfinished(deliveries),
    pendingOrders: { waiting: integer(orders, "waiting"), oldest: optional(orders, "oldest", date) },
    tasks: new Map([...ofTasks, ["erasing", erasing === undefined ? NOTHING : toUnfinished(erasing)]]),
  };
}

const NOTHING: Unfinished = { waiting: 0, oldest: undefined, dueAt: undefined };

const toUnfinished = (row: Row): Unfinished => ({
  waiting: integer(row, "waiting"),
  oldest: optional(row, "oldest", date),
  dueAt: optional(row, "first_due", date),
});
