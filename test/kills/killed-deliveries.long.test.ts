import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../adapters/persistence/sql/database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { createEndpoint } from "../../application/webhooks/endpoints.js";
import type { AccountId } from "../../domain/ids.js";
import { eventIdOf } from "../../domain/tasks/account-event.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { Fleet, pause } from "../support/fleet.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { freshDatabase } from "../support/postgres.js";
import type { Installation } from "../support/service-process.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";
import { WebhookReceiver } from "../support/webhook-receiver.js";

const TASKS = 80;
const CUSTOMERS = 16;
/** After the last kill: leases of deliveries expire after 20 seconds. */
const DEADLINE_MILLISECONDS = 120_000;
const KILLS = { postgresql: 6, sqlite: 4 };

/** Every 40th task becomes a panorama and is saved; the others fail and are refunded. */
const promptOf = (n: number): string => (n % 40 === 0 ? "a foggy ocean test:plain" : "a lake test:fail");

type Received = { readonly id: string; readonly type: string; readonly taskId: string };

/** An endpoint for the account, at the receiver. */
const addEndpoint = async (database: AnyDatabase, receiver: WebhookReceiver, account: AccountId): Promise<void> => {
  const ports = { ...sqlStores(database), clock: new SystemClock(), ids: new RandomIds() };
  const path = `/${account}`;
  const created = await createEndpoint(ports, { privateOrigins: [receiver.origin] })(account, receiver.origin + path);
  receiver.expect(path, created._unsafeUnwrap().secret);
};

/** Waits until no task is in progress and nothing is to be delivered. */
const untilDelivered = async (rows: (statement: string) => Promise<readonly unknown[]>): Promise<void> => {
  for (const deadline = Date.now() + DEADLINE_MILLISECONDS; ; await pause(500)) {
    const tasks = await rows(
      "select id from task where state in ('queued', 'submitting', 'submitted', 'generated') or storage_status = 'uploading'",
    );
    const deliveries = await rows("select id, detail, fence from webhook_delivery where due_at is not null");
    if (tasks.length + deliveries.length === 0) return;
    if (Date.now() > deadline) throw new Error(`still waiting: ${JSON.stringify([tasks, deliveries])}`);
  }
};

/** The database has exactly one event for each transition, and the receiver has accepted every one, in order. */
const expectEveryEvent = async (sql: Database["sql"], receiver: WebhookReceiver): Promise<void> => {
  expect(receiver.errors).toEqual([]);
  const tasks = await sql("select id, state, storage_status from task");
  const events = await sql("select account_id, number, type, task_id from event order by account_id, number");
  const expected = tasks.flatMap(({ id, state }) =>
    state === "succeeded" ? [`${id} panorama.saved`, `${id} panorama.succeeded`] : [`${id} panorama.failed`],
  );
  expect(events.map(({ task_id, type }) => `${task_id} ${type}`).sort()).toEqual(expected.sort());

  const ofTask = new Map<string, Received[]>();
  for (const { id, type, data, status } of receiver.received) {
    const taskId = String(data.id);
    if (status === 204) ofTask.set(taskId, [...(ofTask.get(taskId) ?? []), { id, type, taskId }]);
  }
  const accepted = new Set([...ofTask.values()].flat().map(({ id, type, taskId }) => `${id} ${taskId} ${type}`));
  const written = events.map(({ account_id, number, task_id, type }) => {
    const id = eventIdOf({ accountId: account_id as AccountId, number: number as number });
    return `${id} ${task_id} ${type}`;
  });
  expect([...accepted].sort()).toEqual(written.sort());
  for (const received of ofTask.values()) {
    const ids = received.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort()); // an event that arrives twice arrives before the next one
  }
};

/** Refuses every tenth event when it first arrives. Refused again and again, it would wait for minutes. */
const refuseSome = (receiver: WebhookReceiver): void => {
  const known = new Set<string>();
  receiver.statusOf = (_path, id) => {
    const isRefused = !known.has(id) && known.size % 10 === 9;
    known.add(id);
    return isRefused ? 500 : 204;
  };
};

describe.concurrent("three instances on one PostgreSQL database, killed with SIGKILL at random moments", () => {
  let fleet: Fleet;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    fleet = await Fleet.start(await freshDatabase(), { WEBHOOK_PRIVATE_ORIGINS: receiver.origin });
  });
  afterAll(async () => {
    await fleet?.remove();
    await receiver?.close();
  });

  it(`deliver every event of ${TASKS} tasks, in the order of each task`, async () => {
    const customers = await fleet.customers(CUSTOMERS);
    for (const { id } of customers) await addEndpoint(fleet.database, receiver, id);
    refuseSome(receiver);

    let started = 0;
    const load = customers.map(async (customer) => {
      while (started < TASKS) {
        started += 1;
        await fleet.create(customer, promptOf(started));
      }
    });
    for (let kill = 0; kill < KILLS.postgresql; kill += 1) {
      const instance = fleet.instances[Math.floor(Math.random() * 3)];
      await pause(Math.random() * 1_000);
      await instance?.end("SIGKILL");
      await instance?.start();
    }
    await Promise.all(load);

    await untilDelivered(fleet.database.sql);
    expect(await fleet.database.sql("select count(*)::int as count from task")).toEqual([{ count: TASKS }]);
    await expectEveryEvent(fleet.database.sql, receiver);
  });
});

describe.concurrent("an instance on SQLite, killed with SIGKILL at random moments", () => {
  let installation: Installation;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    installation = await migratedInstallation({
      DEMO: "false",
      SUBMIT_TIMEOUT_MS: "500",
      LEASE_MS: "1000",
      LOCAL_PROVIDER_DELAY_MS: "300",
      WEBHOOK_PRIVATE_ORIGINS: receiver.origin,
    });
  });
  afterAll(async () => {
    await installation?.remove();
    await receiver?.close();
  });

  it(`delivers every event of ${TASKS} tasks, in the order of each task`, async () => {
    const file = join(installation.dataDir, "panorama.sqlite");
    const database = await openSqliteDatabase(file);
    const accounts = await accountsWithKeys(database, CUSTOMERS, 1_000, 2);
    for (const { id } of accounts) await addEndpoint(database, receiver, id);
    await database.close();
    refuseSome(receiver);

    let created = 0;
    const create = async (key: string): Promise<void> => {
      for (let own = 0; created < TASKS && own < 9; ) {
        const answer = await fetch(`${installation.url}/api/v1/panoramas`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` },
          body: JSON.stringify({ prompt: promptOf(created + 1), resolution: "1k" }),
        }).catch(() => undefined);
        if (answer?.status === 202) {
          created += 1;
          own += 1;
        } else {
          await pause(300);
        }
      }
    };
    await installation.start();
    const load = secretsOf(accounts).map(create);
    for (let kill = 0; kill < KILLS.sqlite; kill += 1) {
      await pause(500 + Math.random() * 1_500);
      await installation.end("SIGKILL");
      await installation.start();
    }
    await Promise.all(load);

    const reader = await openSqliteDatabase(file);
    await untilDelivered(reader.sql);
    const [{ count } = { count: 0 }] = await reader.sql("select count(*) as count from task");
    expect(count).toBeGreaterThanOrEqual(TASKS); // those without an answer too
    await expectEveryEvent(reader.sql, receiver);
    await reader.close();
  });
});
