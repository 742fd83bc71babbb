import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";

let url: string;
beforeAll(async () => {
  url = await freshDatabase();
});

const test = { describe, it, beforeEach, afterEach };
describeStores(test, "on PostgreSQL", () => postgresStores(url));
describeTaskQueue(test, "on PostgreSQL", () => postgresStores(url));
describeConcurrentUploads(test, "on PostgreSQL", () => postgresStores(url));
describeOperatorStore(test, "on PostgreSQL", () => postgresStores(url));
describeOperatorLog(test, "on PostgreSQL", () => postgresStores(url));
describeTaskRecords(test, "on PostgreSQL", () => postgresStores(url));
describeProvenanceLog(test, "on PostgreSQL", () => postgresStores(url));
describeOperatorLoginStore(test, "on PostgreSQL", async () => {
  const { database, close } = await postgresStores(url);
  return { logins: new SqlOperatorLoginStore(database), close };
});
describeLetterOutbox(test, "on PostgreSQL", async () => {
  const { database, close } = await postgresStores(url);
  return { letters: new SqlLetterOutbox(database), close };
});
describeMaintenanceStore(test, "on PostgreSQL", async () => {
  const { database, close } = await postgresStores(url);
  return { maintenance: new SqlMaintenanceStore(database), close };
});
it("has one secret for all instances on PostgreSQL, which is made once", async () => {
  const { database, close } = await postgresStores(url);
  const instances = [1, 2, 3].map(() => new SqlInstallationSecrets(database));
  const secrets = await Promise.all(instances.map((one, n) => one.shared("test", async () => `made by ${n}`)));
  expect(new Set(secrets).size).toBe(1);
  expect(await instances[0]?.shared("test", async () => "made later")).toBe(secrets[0]);
  expect(await instances[0]?.read("other")).toBeUndefined();
  await close();
});
describeTaskMetrics("on PostgreSQL", () => postgresStores(url));
describeUnreadableTasks("on PostgreSQL", () => postgresStores(url));
describeTaskPlans("on PostgreSQL", () => postgresStores(url));
describeListPlans("on PostgreSQL", () => postgresStores(url));
describeDeliveryPlans("on PostgreSQL", () => postgresStores(url));
describeGrowthPlans("on PostgreSQL", () => postgresStores(url));
