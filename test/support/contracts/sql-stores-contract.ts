import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { SqlInstallationSecrets } from "../../../adapters/persistence/stores/sql-installation-secrets.js";
import { SqlLetterOutbox } from "../../../adapters/persistence/stores/sql-letter-outbox.js";
import { describeConcurrentUploads } from "../../contracts/concurrent-uploads-contract.js";
import { describeLetterOutbox } from "../../contracts/letter-outbox-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../contracts/operator-store-contract.js";
import { describeStores } from "../../contracts/store-contracts.js";
import { describeTaskRecords } from "../../contracts/task-record-contract.js";
import type { AnyDatabase, SqlStores } from "../sql-stores.js";
import { describeTaskMetrics } from "./task-metrics-contract.js";
import {
  describeDeliveryPlans,
  describeGrowthPlans,
  describeListPlans,
  describeTaskPlans,
} from "./task-plans-contract.js";
import { describeUnreadableTasks } from "./unreadable-tasks-contract.js";

/** Every suite that the stores in SQLite and in PostgreSQL pass. */
export const describeSqlStores = (
  technology: string,
  makeStores: () => Promise<SqlStores & { readonly database: AnyDatabase; close(): Promise<void> }>,
): void => {
  describeStores(technology, makeStores);
  describeTaskQueue({ describe, it, beforeEach, afterEach }, technology, makeStores);
  describeConcurrentUploads(technology, makeStores);
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
  describeListPlans(technology, makeStores);
  describeDeliveryPlans(technology, makeStores);
  describeGrowthPlans(technology, makeStores);
};
