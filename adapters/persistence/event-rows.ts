import type { AccountId } from "../../domain/account.js";
import { type AccountEvent, EVENT_TYPES, type NewEvent } from "../../domain/account-event.js";
import { amount, branded, date, integer, oneOf, type Row } from "./columns.js";
import type { Sql } from "./database.js";
import { LISTED_ENDPOINT } from "./listed-endpoint.js";
import type { Dialect } from "./migration-steps.js";
import type { Statement } from "./statement.js";
import { writeIfChecked } from "./write-in-one-round-trip.js";

/**
 * Writes an event and its deliveries, together with `others`. `accountChanges` are assignments to the account's row, which
 * also gets the number of the event: its lock makes the numbers follow the order of the commits.
 *
 * The event goes to every endpoint of the account that is on, and to the `webhook_url` of its task. It is due at once:
 * `dueAt` is any time that has passed.
 */
export const writeEvent = async (
  sql: Sql,
  dialect: Dialect,
  event: NewEvent,
  { webhookUrl, dueAt }: { readonly webhookUrl: string | undefined; readonly dueAt: Date },
  accountChanges: Statement = { text: "", parameters: [] },
  others: readonly Statement[] = [],
): Promise<void> => {
  const { accountId } = event;
  const account = {
    text: `update account set last_event = last_event + 1${accountChanges.text} where id = ? returning id, last_event`,
    parameters: [...accountChanges.parameters, accountId],
  };
  if (dialect === "postgresql") {
    await writeIfChecked(sql, account, [...eventInsertions(event, webhookUrl, dueAt, "checked", []), ...others]);
    return;
  }
  const stored = "(select id, last_event from account where id = ?)";
  const writes = [account, ...eventInsertions(event, webhookUrl, dueAt, stored, [accountId]), ...others];
  for (const { text, parameters } of writes) await sql(text, parameters);
};

/** `account` is a table expression with the id of the account and the number of its event, once per row. */
export const eventInsertions = (
  event: NewEvent,
  webhookUrl: string | undefined,
  dueAt: Date,
  account: string,
  accountParameters: readonly unknown[],
): Statement[] => {
  const { type, at } = event;
  const taskId = event.type === "credits.low" ? null : event.taskId;
  const credits = event.type === "credits.low" ? event.remainingCredits : null;
  const ownLane = webhookUrl === undefined ? null : laneOf(event.accountId, webhookUrl);
  return [
    {
      text: `insert into event (account_id, number, type, task_id, credits, at)
        select numbered.id, numbered.last_event, ?, ?, ?, ? from ${account} as numbered`,
      parameters: [type, taskId, credits, at, ...accountParameters],
    },
    {
      text: `insert into webhook_delivery
        (endpoint_id, account_id, number, task_id, lane, state, attempts, due_at, fence)
        select webhook_endpoint.id, numbered.id, numbered.last_event, ?, webhook_endpoint.id, 'pending', 0, ?, 0
        from ${account} as numbered join webhook_endpoint on webhook_endpoint.account_id = numbered.id
        where ${LISTED_ENDPOINT} and off_at is null and url is not null`,
      parameters: [taskId, dueAt, ...accountParameters],
    },
    ...(ownLane === null
      ? []
      : [
          {
            text: `insert into webhook_delivery
              (endpoint_id, account_id, number, task_id, lane, state, attempts, due_at, fence)
              select webhook_endpoint.id, numbered.id, numbered.last_event, ?, ?, 'pending', 0, ?, 0
              from ${account} as numbered join webhook_endpoint on webhook_endpoint.account_id = numbered.id
              where url is null`,
            parameters: [taskId, ownLane, dueAt, ...accountParameters],
          },
        ]),
  ];
};

/** The URLs of single tasks share a lane if they have the same origin. */
const laneOf = (account: AccountId, webhookUrl: string): string => `${account} ${new URL(webhookUrl).origin}`;

export const toEvent = (row: Row): AccountEvent => {
  const core = {
    accountId: branded<AccountId>(row, "account_id"),
    number: integer(row, "number"),
    at: date(row, "at"),
  };
  const type = oneOf(row, "type", EVENT_TYPES);
  return type === "credits.low"
    ? { ...core, type, remainingCredits: amount(row, "credits") }
    : { ...core, type, taskId: branded(row, "task_id") };
};
