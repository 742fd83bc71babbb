import type { AttemptOutcome, DeliveryClaim, DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { AttemptResult, Delivery } from "../../../domain/webhooks/webhook-delivery.js";
import type { UnreadableTasks } from "../rows/unreadable-tasks.js";
import { present, toDelivery, toEndpoint } from "../rows/webhook-rows.js";
import { date, integer, optional, type Row } from "../sql/columns.js";
import { type Database, inTransaction } from "../sql/database.js";
import { isAmong, isIn, listOf, skipLocked } from "../sql/dialect-sql.js";
import { IS_FREE, type Statement } from "../sql/statement.js";
import { writeInOneRoundTrip } from "../sql/write-in-one-round-trip.js";
import { readDueDeliveries } from "./due-deliveries.js";
import { toEvent } from "./event-rows.js";
import { receiverStatements, takeReceivers } from "./receiver-rows.js";
import { toTask } from "./tasks/task-rows.js";

const EVENTS = `select event.*, webhook_delivery.id as delivery_id from webhook_delivery
  join event on event.account_id = webhook_delivery.account_id and event.number = webhook_delivery.number`;

/** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
export const claimDeliveries = async (
  database: Database,
  unreadable: UnreadableTasks,
  { now, until, choose, ...which }: DeliveryClaim,
): Promise<DeliveryLease[]> => {
  const { sql, dialect } = database;
  const due = await readDueDeliveries(database, now, which);
  const chosen = due.length === 0 ? [] : choose(due);
  const taken = await takeReceivers(database, chosen, now, until);
  if (taken.length === 0) return [];
  const byNumber = new Map(taken.map((delivery) => [delivery.id, delivery]));
  const rows = await sql(
    `update webhook_delivery set due_at = ?, leased_until = ?, fence = fence + 1 where ${isIn(
      "id",
      `select id from webhook_delivery where ${isAmong("id", dialect)} and due_at <= ? and ${IS_FREE}
        ${skipLocked(dialect)}`,
      dialect,
    )} returning *`,
    [until, until, listOf([...byNumber.keys()], dialect), now, now],
  );
  const rowsOf = async (select: string, column: string, of: string): Promise<Row[]> => {
    const wanted = [...new Set(rows.map((row) => row[of]).filter((value) => value !== null))];
    return wanted.length === 0 ? [] : sql(`${select} where ${isAmong(column, dialect)}`, [listOf(wanted, dialect)]);
  };
  const [eventRows, endpointRows, taskRows] = await Promise.all([
    rowsOf(EVENTS, "webhook_delivery.id", "id"),
    rowsOf("select * from webhook_endpoint", "id", "endpoint_id"),
    rowsOf("select * from task", "id", "task_id"),
  ]);
  const events = new Map(eventRows.map((row) => [numberOf(row, "delivery_id"), toEvent(row)]));
  const endpoints = new Map(endpointRows.map((row) => [row.id, toEndpoint(row)]));
  const tasks = new Map(unreadable.separate(taskRows, toTask).read.map((task) => [task.id as unknown, task]));
  return rows.sort(byId).flatMap((row): DeliveryLease[] => {
    const { id, delivery } = toDelivery({ ...row, due_at: until.getTime() });
    const event = present(events.get(id));
    const endpoint = present(endpoints.get(row.endpoint_id));
    const task = tasks.get(row.task_id);
    if (row.task_id !== null && task === undefined) return []; // it cannot be read; another instance may claim it
    const url = present(endpoint.url ?? task?.request.webhookUrl);
    const { lane, origin, receiver } = present(byNumber.get(id));
    const core = { id, fence: integer(row, "fence"), lane, origin, receiver, event, task, url, endpoint };
    return delivery.state === "pending" ? [{ ...core, delivery }] : [];
  });
};

export const recordAttempt = async (
  database: Database,
  lease: DeliveryLease,
  outcome: AttemptOutcome,
  result: AttemptResult,
  now: Date,
): Promise<void> => {
  const { lane, event, endpoint } = lease;
  const next = outcome.delivery;
  const own = ownStatement(lease, next);
  const failing =
    result.kind === "failed"
      ? { text: "failing_since = ? where id = ? and failing_since is null", parameters: [now, endpoint.id] }
      : { text: "failing_since = null where id = ? and failing_since is not null", parameters: [endpoint.id] };
  const statements: Statement[] = [
    { text: `update webhook_endpoint set ${failing.text}`, parameters: failing.parameters },
    ...receiverStatements(lease, outcome, now),
  ];
  await inTransaction(database, async (sql) => {
    if (next.state !== "pending" || event.type === "credits.low") statements.push(own);
    else {
      const [stored] = await sql(`${own.text} returning due_at`, own.parameters);
      const waits = stored !== undefined && optional(stored, "due_at", date)?.getTime() === next.dueAt.getTime();
      // Later events of the task wait for this one: until then no claim needs to look at them.
      const later = `update webhook_delivery set due_at = ?
          where task_id = ? and lane = ? and number > ? and due_at < ? and due_at is not null and ${IS_FREE}`;
      const parameters = [next.dueAt, event.taskId, lane, event.number, next.dueAt, now];
      if (waits) statements.push({ text: later, parameters });
    }
    await writeInOneRoundTrip(sql, database.dialect, statements);
  });
};

/**
 * The change of a delivery after an attempt. A delivery that was resent meanwhile (its due time is before the end of
 * the lease) does not change, and is free now.
 */
const ownStatement = ({ id, fence }: DeliveryLease, next: Delivery): Statement => {
  const { state, attempts, firstAttemptAt = null, detail = null } = next;
  const [dueAt, endedAt] = next.state === "pending" ? [next.dueAt, null] : [null, next.endedAt];
  const unlessWanted = ["state", "attempts", "first_attempt_at", "ended_at", "due_at"].map(
    (column) => `${column} = case when due_at < leased_until then ${column} else ? end`,
  );
  return {
    text: `update webhook_delivery set ${unlessWanted.join(", ")}, detail = ?, leased_until = null
      where id = ? and fence = ?`,
    parameters: [state, attempts, firstAttemptAt, endedAt, dueAt, detail, id, fence],
  };
};

const byId = (a: Row, b: Row): number => numberOf(a, "id") - numberOf(b, "id");

/** PostgreSQL's driver returns a `bigint` as text. */
const numberOf = (row: Row, column: string): number => Number(row[column]);
