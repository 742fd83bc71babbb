import type { AttemptOutcome, DeliveryClaim, DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { AttemptResult, Delivery } from "../../../domain/webhooks/webhook-delivery.js";
import { date, integer, optional, type Row } from "../database/sql/columns.js";
import { type Database, inTransaction } from "../database/sql/database.js";
import { isAmong, isIn, listOf, skipLocked } from "../database/sql/dialect-sql.js";
import { IS_FREE, isWanted, LEASE } from "../database/sql/leases.js";
import type { Statement } from "../database/sql/statement.js";
import { writeInOneRoundTrip } from "../database/sql/write-in-one-round-trip.js";
import { toTask } from "../tasks/task-rows.js";
import type { UnreadableTasks } from "../tasks/unreadable-tasks.js";
import { readDueDeliveries } from "./due-deliveries.js";
import { toEvent } from "./event-rows.js";
import { receiverStatements, takeReceivers } from "./receiver-rows.js";
import { present, referredRows, toDelivery, toEndpoint } from "./webhook-rows.js";

export const EVENTS_OF_DELIVERIES = `select event.*, webhook_delivery.id as delivery_id from webhook_delivery
  join event on event.account_id = webhook_delivery.account_id and event.number = webhook_delivery.number`;

/** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
export async function claimDeliveries(
  database: Database,
  unreadable: UnreadableTasks,
  { now, until, choose, ...which }: DeliveryClaim,
): Promise<DeliveryLease[]> {
  const { sql, dialect } = database;
  const due = await readDueDeliveries(database, now, which);
  const chosen = due.length === 0 ? [] : choose(due);
  const taken = await takeReceivers(database, chosen, now, until);
  if (taken.length === 0) return [];
  const byNumber = new Map(taken.map((delivery) => [delivery.id, delivery]));
  const rows = await sql(
    `update webhook_delivery set ${LEASE} where ${isIn(
      "id",
      `select id from webhook_delivery where ${isAmong("id", dialect)} and due_at <= ? and ${IS_FREE}
        ${skipLocked(dialect)}`,
      dialect,
    )} returning *`,
    [until, until, listOf([...byNumber.keys()], dialect), now, now],
  );
  const [eventRows, endpointRows, taskRows] = await Promise.all([
    referredRows(database, rows, "id", EVENTS_OF_DELIVERIES, "webhook_delivery.id"),
    referredRows(database, rows, "endpoint_id", "select * from webhook_endpoint"),
    referredRows(database, rows, "task_id", "select * from task"),
  ]);
  const events = new Map(eventRows.map((row) => [numberOf(row, "delivery_id"), toEvent(row)]));
  const endpoints = new Map(endpointRows.map((row) => [row.id, toEndpoint(row)]));
  const tasks = new Map(unreadable.separate(taskRows, toTask).read.map((task) => [task.id as unknown, task]));
  return rows.sort(byId).flatMap((row): DeliveryLease[] => {
    const { id, delivery } = toDelivery({ ...row, due_at: until.getTime() });
    const event = events.get(id);
    const endpoint = endpoints.get(row.endpoint_id);
    if (event === undefined || endpoint === undefined) return []; // the account was erased since the update
    const task = tasks.get(row.task_id);
    if (row.task_id !== null && task === undefined) return []; // it cannot be read; another instance may claim it
    const url = endpoint.url ?? task?.request.webhookUrl;
    if (url === undefined) return [];
    const { lane, origin, receiver } = present(byNumber.get(id));
    const core = { id, fence: integer(row, "fence"), lane, origin, receiver, event, task, url, endpoint };
    return delivery.state === "pending" ? [{ ...core, delivery }] : [];
  });
}

export const recordDeliveryAttempt = async (
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
  const endpointFails = { text: `update webhook_endpoint set ${failing.text}`, parameters: failing.parameters };
  await inTransaction(database, async (sql) => {
    if (result.kind === "delivered") {
      const statements = [endpointFails, ...receiverStatements(lease, outcome, now), own];
      return writeInOneRoundTrip(sql, database.dialect, statements);
    }
    const [stored] = await sql(`${own.text} returning due_at`, own.parameters);
    const storedDueAt = stored && optional(stored, "due_at", date)?.getTime();
    const dueAt = next.state === "pending" ? next.dueAt : undefined;
    // A lane from which somebody has sent again does not wait.
    const wasResent = storedDueAt !== undefined && storedDueAt !== dueAt?.getTime();
    const statements: Statement[] = [endpointFails, ...receiverStatements(lease, outcome, now, wasResent)];
    if (dueAt !== undefined && storedDueAt === dueAt.getTime() && event.type !== "credits.low") {
      // Later events of the task wait for this one: until then no claim needs to look at them.
      const later = `update webhook_delivery set due_at = ?
          where task_id = ? and lane = ? and number > ? and due_at < ? and due_at is not null and ${IS_FREE}`;
      statements.push({ text: later, parameters: [dueAt, event.taskId, lane, event.number, dueAt, now] });
    }
    return writeInOneRoundTrip(sql, database.dialect, statements);
  });
};

/**
 * The change of a delivery after an attempt. A delivery that was resent meanwhile does not change, and is free now. One
 * that was given up meanwhile ends as the attempt says, but is not tried again.
 */
function ownStatement({ id, fence }: DeliveryLease, next: Delivery): Statement {
  const { state, attempts, firstAttemptAt = null, detail = null } = next;
  const [dueAt, endedAt] = next.state === "pending" ? [next.dueAt, null] : [null, next.endedAt];
  const wanted = isWanted("webhook_delivery");
  const kept = next.state === "pending" ? wanted : `${wanted} and due_at is not null`;
  const unlessKept = (columns: readonly string[], condition: string) =>
    columns.map((column) => `${column} = case when ${condition} then ${column} else ? end`).join(", ");
  return {
    text: `update webhook_delivery set
      ${unlessKept(["state", "attempts", "first_attempt_at", "ended_at", "due_at"], kept)},
      ${unlessKept(["detail"], `${kept} and due_at is null`)}, leased_until = null
      where id = ? and fence = ?`,
    parameters: [state, attempts, firstAttemptAt, endedAt, dueAt, detail, id, fence],
  };
}

export const byId = (a: Row, b: Row): number => numberOf(a, "id") - numberOf(b, "id");

/** PostgreSQL's driver returns a `bigint` as text. */
export const numberOf = (row: Row, column: string): number => Number(row[column]);
