import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeConcurrentUploads } from "../../../adapters/contracts/concurrent-uploads-contract.js";
import { describeLetterOutbox } from "../../../adapters/contracts/letter-outbox-contract.js";
import { describeMaintenanceStore } from "../../../adapters/contracts/maintenance-store-contract.js";
import { describeOperatorLoginStore } from "../../../adapters/contracts/operator-login-store-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../../adapters/contracts/operator-store-contract.js";
import { describeProvenanceLog } from "../../../adapters/contracts/provenance-log-contract.js";
import { describeStores } from "../../../adapters/contracts/store-contracts.js";
import { describeTaskRecords } from "../../../adapters/contracts/task-record-contract.js";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { SqlInstallationSecrets } from "../../../adapters/persistence/stores/sql-installation-secrets.js";
import { SqlLetterOutbox } from "../../../adapters/persistence/stores/sql-letter-outbox.js";
import { SqlMaintenanceStore } from "../../../adapters/persistence/stores/sql-maintenance-store.js";
import { SqlOperatorLoginStore } from "../../../adapters/persistence/stores/sql-operator-login-store.js";
import { describeTaskMetrics } from "../../support/contracts/task-metrics-contract.js";
import {
  describeDeliveryPlans,
  describeGrowthPlans,
  describeListPlans,
  describeTaskPlans,
} from "../../support/contracts/task-plans-contract.js";
import { describeUnreadableTasks } from "../../support/contracts/unreadable-tasks-contract.js";
import { sharedPostgresStores } from "../../support/postgres-stores.js";

const stores = sharedPostgresStores();

const test = { describe, it, beforeEach, afterEach };
describeStores(test, "on PostgreSQL", stores);
describeTaskQueue(test, "on PostgreSQL", stores);
describeConcurrentUploads(test, "on PostgreSQL", stores);
describeOperatorStore(test, "on PostgreSQL", stores);
describeOperatorLog(test, "on PostgreSQL", stores);
describeTaskRecords(test, "on PostgreSQL", stores);
describeProvenanceLog(test, "on PostgreSQL", stores);
describeOperatorLoginStore(test, "on PostgreSQL", async () => {
  const { database, close } = await stores();
  return { logins: new SqlOperatorLoginStore(database), close };
});
describeLetterOutbox(test, "on PostgreSQL", async () => {
  const { database, close } = await stores();
  return { letters: new SqlLetterOutbox(database), close };
});
describeMaintenanceStore(test, "on PostgreSQL", async () => {
  const { database, close } = await stores();
  return { maintenance: new SqlMaintenanceStore(database), close };
});
it("has one secret for all instances on PostgreSQL, which is made once", async () => {
  const { database, close } = await stores();
  const instances = [1, 2, 3].map(() => new SqlInstallationSecrets(database));
  const secrets = await Promise.all(instances.map((one, n) => one.shared("test", async () => `made by ${n}`)));
  expect(new Set(secrets).size).toBe(1);
  expect(await instances[0]?.shared("test", async () => "made later")).toBe(secrets[0]);
  expect(await instances[0]?.read("other")).toBeUndefined();
  await close();
});
describeTaskMetrics("on PostgreSQL", stores);
describeUnreadableTasks("on PostgreSQL", stores);
describeTaskPlans("on PostgreSQL", stores);
describeListPlans("on PostgreSQL", stores);
describeDeliveryPlans("on PostgreSQL", stores);
describeGrowthPlans("on PostgreSQL", stores);
