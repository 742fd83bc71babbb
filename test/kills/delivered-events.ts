import { expect } from "vitest";
import type { Database } from "../../adapters/persistence/database/sql/database.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { webhooks } from "../../application/webhooks/webhooks.js";
import type { AccountId } from "../../domain/ids.js";
import { eventIdOf } from "../../domain/tasks/account-event.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";
import type { WebhookReceiver } from "../support/webhook-receiver.js";

/** An endpoint for each account, at the receiver, which refuses every tenth event when it first arrives. */
export const addEndpoints = async (
  database: AnyDatabase,
  receiver: WebhookReceiver,
  accounts: readonly AccountId[],
): Promise<void> => {
  const ports = { ...sqlStores(database), clock: new SystemClock(), ids: new RandomIds() };
  const { createEndpoint } = webhooks(ports, { webhookPrivateOrigins: [receiver.origin] });
  for (const account of accounts) {
    const path = `/${account}`;
    const created = await createEndpoint(account, receiver.origin + path);
    receiver.expect(path, created._unsafeUnwrap().secret);
  }
  const known = new Set<string>();
  // Refused again and again, an event would wait for minutes.
  receiver.statusOf = (_path, id) => {
    const isRefused = !known.has(id) && known.size % 10 === 9;
    known.add(id);
    return isRefused ? 500 : 204;
  };
};

/** The database has exactly one event for each transition, and the receiver has accepted every one, in order. */
export const expectEveryEvent = async (sql: Database["sql"], receiver: WebhookReceiver): Promise<void> => {
  expect(receiver.errors).toEqual([]);
  const tasks = await sql("select id, state from task");
  const events = await sql("select account_id, number, type, task_id from event order by account_id, number");
  const expected = tasks.flatMap(({ id, state }) =>
    state === "succeeded" ? [`${id} panorama.saved`, `${id} panorama.succeeded`] : [`${id} panorama.failed`],
  );
  expect(events.map(({ task_id, type }) => `${task_id} ${type}`).sort()).toEqual(expected.sort());

  const accepted = receiver.received.filter(({ status }) => status === 204);
  const written = events.map(({ account_id, number, task_id, type }) => {
    const id = eventIdOf({ accountId: account_id as AccountId, number: number as number });
    return `${id} ${task_id} ${type}`;
  });
  const once = new Set(accepted.map(({ id, type, data }) => `${id} ${data.id} ${type}`));
  expect([...once].sort()).toEqual(written.sort());
  const ofTask = new Map<unknown, string[]>();
  for (const { id, data } of accepted) ofTask.set(data.id, [...(ofTask.get(data.id) ?? []), id]);
  // An event that arrives twice arrives before the next one.
  for (const ids of ofTask.values()) expect(ids).toEqual([...ids].sort());
};
