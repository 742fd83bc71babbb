import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeConcurrentUploads } from "../../../adapters/contracts/concurrent-uploads-contract.js";
import { describeLetterOutbox } from "../../../adapters/contracts/letter-outbox-contract.js";
import { describeMaintenanceStore } from "../../../adapters/contracts/maintenance-store-contract.js";
import { describeOperatorLoginStore } from "../../../adapters/contracts/operator-login-store-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../../adapters/contracts/operator-store-contract.js";
import { describeProvenanceLog } from "../../../adapters/contracts/provenance-log-contract.js";
import { describeStores } from "../../../adapters/contracts/store-contracts.js";
import { accountId, anAccount, noon } from "../../../adapters/contracts/support/builders.js";
import { describeTaskRecords } from "../../../adapters/contracts/task-record-contract.js";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import type { Database } from "../../../adapters/persistence/sql/database.js";
import { SqlAccountStore } from "../../../adapters/persistence/stores/accounts/sql-account-store.js";
import { SqlInstallationSecrets } from "../../../adapters/persistence/stores/sql-installation-secrets.js";
import { SqlLetterOutbox } from "../../../adapters/persistence/stores/sql-letter-outbox.js";
import { SqlMaintenanceStore } from "../../../adapters/persistence/stores/sql-maintenance-store.js";
import { SqlOperatorLoginStore } from "../../../adapters/persistence/stores/sql-operator-login-store.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openPasswordLink } from "../../../domain/accounts/password-link.js";
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
it("says on PostgreSQL that an address is taken if an account is being opened with it while it is confirmed", async () => {
  const { database, accounts, links, close } = await stores();
  const [digest, email] = ["1".repeat(64), "wanted@example.com" as Email];
  const confirming = anAccount({ id: accountId(1) });
  await accounts.open(confirming);
  await links.insert(openPasswordLink(email, digest, noon), noon, 1);

  let confirmed: Promise<unknown> | undefined;
  // Commits the new account only when the confirmation waits for it.
  const transaction: Database["transaction"] = (work) =>
    database.transaction(async (sql) => {
      const opened = await work(sql);
      confirmed = links.confirmEmail(digest, confirming.id, noon);
      while ((await database.sql("select 1 from pg_locks where not granted")).length === 0);
      return opened;
    });
  const opening = Object.assign(Object.create(database) as Database, { transaction });
  expect(await new SqlAccountStore(opening).open(anAccount({ id: accountId(2), email }))).toEqual(ok(undefined));
  expect(await confirmed).toEqual(err({ kind: "email_taken", email }));
  expect(await accounts.find(confirming.id)).toEqual(confirming);
  expect(await links.find(digest, noon)).toBe(email);
  await close();
});
describeTaskMetrics("on PostgreSQL", stores);
describeUnreadableTasks("on PostgreSQL", stores);
describeTaskPlans("on PostgreSQL", stores);
describeListPlans("on PostgreSQL", stores);
describeDeliveryPlans("on PostgreSQL", stores);
describeGrowthPlans("on PostgreSQL", stores);
