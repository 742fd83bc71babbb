import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anAccount, anApiKey, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { describeTaskStore } from "../../../adapters/contracts/tasks/task-store-contract.js";
import { SqlEmailOutbox } from "../../../adapters/persistence/accounts/sql-email-outbox.js";
import { SqlInstallationSecrets } from "../../../adapters/persistence/accounts/sql-installation-secrets.js";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import { SqlDeliveryStore } from "../../../adapters/persistence/webhooks/sql-delivery-store.js";
import { credits } from "../../../domain/credits/credits.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import { afterAttempt } from "../../../domain/webhooks/webhook-delivery.js";
import { receiverAfter } from "../../../domain/webhooks/webhook-receiver.js";
import { describeAccountStore } from "../../contracts/accounts/account-store-contract.js";
import { describeApiKeyStore } from "../../contracts/accounts/api-key-store-contract.js";
import { describeApiRequests } from "../../contracts/accounts/api-requests-contract.js";
import { describePasswordLinkStore } from "../../contracts/accounts/password-link-store-contract.js";
import { describeSessionStore } from "../../contracts/accounts/session-store-contract.js";
import { setUpDeliveries } from "../../contracts/deliveries/delivery-setup.js";
import { describeDeliveryStore } from "../../contracts/deliveries/delivery-store-contract.js";
import { describeEmailOutbox } from "../../contracts/email-outbox-contract.js";
import { describeEndpointStore } from "../../contracts/endpoint-store-contract.js";
import { describeEventStore } from "../../contracts/event-store-contract.js";
import { describeLeases } from "../../contracts/leases-contract.js";
import { describeLedgerStore } from "../../contracts/ledger-store-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../contracts/operator-store-contract.js";
import { describeOrderStore } from "../../contracts/order-store-contract.js";
import { describeReferenceStore } from "../../contracts/reference-store-contract.js";
import { describeTaskRecords } from "../../contracts/task-record-contract.js";
import type { AnyDatabase, SqlStores } from "../sql-stores.js";
import { describeTaskMetrics } from "./task-metrics-contract.js";
import { describeDeliveryPlans, describeTaskPlans } from "./task-plans-contract.js";
import { describeUnreadableTasks } from "./unreadable-tasks-contract.js";

/** Every suite that the stores in SQLite and in PostgreSQL pass. */
export const describeSqlStores = (
  technology: string,
  makeStores: () => Promise<SqlStores & { readonly database: AnyDatabase; close(): Promise<void> }>,
): void => {
  const test = { describe, it, beforeEach, afterEach };
  describeTaskStore(test, technology, makeStores);
  describeAccountStore(technology, makeStores);
  describeOrderStore(technology, makeStores);
  describeApiKeyStore(technology, makeStores);
  describeApiRequests(technology, makeStores);
  describeLedgerStore(technology, makeStores);
  describeSessionStore(technology, makeStores);
  describePasswordLinkStore(technology, makeStores);
  describeEndpointStore(technology, makeStores);
  describeDeliveryStore(technology, makeStores);
  describeEventStore(technology, makeStores);
  describeReferenceStore(technology, makeStores);
  describeTaskQueue(test, technology, makeStores);
  describeOperatorStore(technology, makeStores);
  describeOperatorLog(technology, makeStores);
  describeTaskRecords(technology, makeStores);
  describeEmailOutbox(technology, async () => {
    const { database, close } = await makeStores();
    return { messages: new SqlEmailOutbox(database), close };
  });
  it(`creates one secret for all instances ${technology}`, async () => {
    const { database, close } = await makeStores();
    const instances = [1, 2, 3].map(() => new SqlInstallationSecrets(database));
    const secrets = await Promise.all(instances.map((one, n) => one.shared("test", async () => `made by ${n}`)));
    expect(new Set(secrets).size).toBe(1);
    expect(await instances[0]?.shared("test", async () => "made later")).toBe(secrets[0]);
    expect(await instances[0]?.read("other")).toBeUndefined();
    await close();
  });
  describeLeases(technology, async () => {
    const stores = await makeStores();
    return { ...stores, messages: new SqlEmailOutbox(stores.database) };
  });
  it(`keeps the scopes of a newer version when a limit of the key changes ${technology}`, async () => {
    const { accounts, operators, database, close } = await makeStores();
    await accounts.open(anAccount(), { key: anApiKey() });
    await database.sql("update api_key set scopes = 'create,newer'");
    const changed = await operators.setKeyLimits(anApiKey().id, (limits) =>
      ok({ ...limits, creditsPerDay: credits(5) }),
    );
    expect(changed._unsafeUnwrap().limits).toMatchObject({ scopes: ["create"], creditsPerDay: 5 });
    expect(await database.sql("select scopes, credits_per_day from api_key")).toEqual([
      { scopes: "create,newer", credits_per_day: 5 },
    ]);
    await operators.setKeyLimits(anApiKey().id, (limits) => ok({ ...limits, scopes: ["read"] }));
    expect(await database.sql("select scopes from api_key")).toEqual([{ scopes: "read" }]);
    await close();
  });
  describeDeliveries(technology, makeStores);
  describeTaskMetrics(technology, makeStores);
  describeUnreadableTasks(technology, makeStores);
  describeTaskPlans(technology, makeStores);
  describeDeliveryPlans(technology, makeStores);
};

const describeDeliveries = (
  technology: string,
  makeStores: () => Promise<SqlStores & { readonly database: AnyDatabase; close(): Promise<void> }>,
) =>
  describe(`DeliveryStore ${technology}`, () => {
    const on = setUpDeliveries(makeStores);
    const over = (changed: (database: AnyDatabase) => Partial<Database>) => {
      const { database } = on.stores as unknown as { readonly database: AnyDatabase };
      return new SqlDeliveryStore(Object.assign(Object.create(database), changed(database)));
    };
    const all = { limit: 9, laneLimit: 9, busyLanes: [], choose: (due: readonly DueDelivery[]) => due };

    it("claims the others when an account is erased between its statements", async () => {
      for (const [n, account] of [on.owner, on.other].entries()) {
        await on.addEndpoint(n + 1, account);
        await on.succeeded(n + 1, account);
      }
      const erased = over(({ sql }) => ({
        sql: async (text, parameters) => {
          const rows = await sql(text, parameters);
          if (!text.startsWith("update webhook_delivery")) return rows;
          for (const table of ["webhook_delivery", "event", "webhook_endpoint"]) {
            await sql(`delete from ${table} where account_id = ?`, [on.other]);
          }
          return rows;
        },
      }));
      const leases = await erased.claim({ ...all, now: on.now, until: on.until });
      expect(leases.map(({ event }) => event.accountId)).toEqual([on.owner]);
    });

    it("records an attempt once although its transaction runs again", async () => {
      await on.addNewEndpoint();
      await on.succeeded();
      const [lease] = await on.claim();
      const aborted = new Error("aborted");
      const repeated = over((database) => ({
        transaction: async (work) => {
          const first = database.transaction(async (sql) => work(sql).then(() => Promise.reject(aborted)));
          await expect(first).rejects.toBe(aborted);
          return database.transaction(work);
        },
      }));
      if (lease === undefined) throw new Error("not claimed");
      const receiver = receiverAfter(lease.receiver, on.failure, on.now);
      const outcome = { delivery: afterAttempt(lease.delivery, on.failure, on.now), receiver, originFreeAt: on.now };
      await repeated.record(lease, outcome, on.failure, on.now);
      const [stored] = await on.stores.deliveries.list(on.owner, 1, undefined);
      expect(stored?.delivery).toMatchObject({ state: "pending", attempts: 1, dueAt: secondsAfter(on.now, 5) });
    });
  });
