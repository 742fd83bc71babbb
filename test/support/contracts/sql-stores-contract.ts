import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { describeTaskStore } from "../../../adapters/contracts/tasks/task-store-contract.js";
import { SqlInstallationSecrets } from "../../../adapters/persistence/stores/sql-installation-secrets.js";
import { SqlLetterOutbox } from "../../../adapters/persistence/stores/sql-letter-outbox.js";
import { describeAccountStore } from "../../contracts/accounts/account-store-contract.js";
import { describeApiKeyStore } from "../../contracts/accounts/api-key-store-contract.js";
import { describeApiRequests } from "../../contracts/accounts/api-requests-contract.js";
import { describePasswordLinkStore } from "../../contracts/accounts/password-link-store-contract.js";
import { describeSessionStore } from "../../contracts/accounts/session-store-contract.js";
import { describeDeliveryStore } from "../../contracts/deliveries/delivery-store-contract.js";
import { describeEndpointStore } from "../../contracts/endpoint-store-contract.js";
import { describeEventStore } from "../../contracts/event-store-contract.js";
import { describeLedgerStore } from "../../contracts/ledger-store-contract.js";
import { describeLetterOutbox } from "../../contracts/letter-outbox-contract.js";
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
  describeLetterOutbox(technology, async () => {
    const { database, close } = await makeStores();
    return { letters: new SqlLetterOutbox(database), close };
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
  describeTaskMetrics(technology, makeStores);
  describeUnreadableTasks(technology, makeStores);
  describeTaskPlans(technology, makeStores);
  describeDeliveryPlans(technology, makeStores);
};
