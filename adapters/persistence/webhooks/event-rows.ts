import type { AccountId } from "../../../domain/ids.js";
import { type AccountEvent, EVENT_TYPES, type NewEvent } from "../../../domain/tasks/account-event.js";
import { LISTED_ENDPOINT } from "../database/schema/indexed-conditions.js";
import { amount, branded, date, integer, oneOf, type Row } from "../database/sql/columns.js";
import type { Dialect, Sql } from "../database/sql/database.js";
import type { Statement } from "../database/sql/statement.js";
import { writeIfChecked } from "../database/sql/write-in-one-round-trip.js";

/** `webhookUrl`: of the task of the event. `dueAt`: any time that has passed. */
type EventDelivery = { readonly webhookUrl: string | undefined; readonly dueAt: Date };

/** Changes written with an event: assignments to the row of the account, and other statements. */
type EventChanges = { readonly account: Statement; readonly others: readonly Statement[] };

const NOTHING_ELSE: EventChanges = { account: { text: "", parameters: [] }, others: [] };

/**
 * Writes an event and its deliveries, together with `others`. `account` are assignments to the account's row,
 * which also gets the number of the event: its lock makes the numbers follow the order of the commits. A sequence of
 * the database could give a lower number to a transaction that commits later, and a reader would miss its event.
 *
 * The event goes to every endpoint of the account that is on, and to the `webhook_url` of its task. It is due at once.
 */
export async function writeEvent(
  sql: Sql,
  dialect: Dialect,
  { event, delivery }: { readonly event: NewEvent; readonly delivery: EventDelivery },
  { account, others }: EventChanges = NOTHING_ELSE,
): Promise<void> {
  const { accountId } = event;
  const numbering = {
    text: `update account set last_event = last_event + 1${account.text} where id = ? returning id, last_event, credits`,
    parameters: [...account.parameters, accountId],
  };
  if (dialect === "postgresql") {
    await writeIfChecked(sql, numbering, [...eventInsertions(event, delivery, CHECKED), ...others]);
    return;
  }
  const stored = { text: "(select id, last_event from account where id = ?)", parameters: [accountId] };
  const writes = [numbering, ...eventInsertions(event, delivery, stored), ...others];
  for (const { text, parameters } of writes) await sql(text, parameters);
}

/** The row of the account after the statement of `writeIfChecked`. */
export const CHECKED: Statement = { text: "checked", parameters: [] };

/** `account` is a table expression with the id of the account and the number of its event, once per row. */
export function eventInsertions(
  event: NewEvent,
  { webhookUrl, dueAt }: EventDelivery,
  account: Statement,
): Statement[] {
  const { type, at } = event;
  const taskId = event.type === "credits.low" ? null : event.taskId;
  const credits = event.type === "credits.low" ? event.remainingCredits : null;
  const deliveryTo = (endpoints: string, lane: string) =>
    `insert into webhook_delivery (endpoint_id, account_id, number, task_id, lane, state, attempts, due_at, fence)
      select webhook_endpoint.id, numbered.id, numbered.last_event, ?, ${lane}, 'pending', 0, ?, 0
      from ${account.text} as numbered join webhook_endpoint on webhook_endpoint.account_id = numbered.id
      where ${endpoints}`;
  const ownLane = webhookUrl === undefined ? null : laneOf(event.accountId, webhookUrl);
  return [
    {
      text: `insert into event (account_id, number, type, task_id, credits, at)
        select numbered.id, numbered.last_event, ?, ?, ?, ? from ${account.text} as numbered`,
      parameters: [type, taskId, credits, at, ...account.parameters],
    },
    {
      text: deliveryTo(`${LISTED_ENDPOINT} and off_at is null and url is not null`, "webhook_endpoint.id"),
      parameters: [taskId, dueAt, ...account.parameters],
    },
    ...(ownLane === null
      ? []
      : [{ text: deliveryTo("url is null", "?"), parameters: [taskId, ownLane, dueAt, ...account.parameters] }]),
  ];
}

/** The URLs of single tasks share a lane if they have the same origin. */
const laneOf = (account: AccountId, webhookUrl: string): string => `${account} ${new URL(webhookUrl).origin}`;

export function toEvent(row: Row): AccountEvent {
  const core = {
    accountId: branded<AccountId>(row, "account_id"),
    number: integer(row, "number"),
    at: date(row, "at"),
  };
  const type = oneOf(row, "type", EVENT_TYPES);
  return type === "credits.low"
    ? { ...core, type, remainingCredits: amount(row, "credits") }
    : { ...core, type, taskId: branded(row, "task_id") };
}
