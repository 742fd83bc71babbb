import { afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { describeStores } from "../../../adapters/contracts/store-contracts.js";
import { describeConcurrentUploads } from "../../support/contracts/concurrent-uploads-contract.js";
import {
  describeDeliveryPlans,
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

describeStores({ describe, it, beforeEach, afterEach }, "on PostgreSQL", () => postgresStores(url));
describeConcurrentUploads("on PostgreSQL", () => postgresStores(url));
describeUnreadableTasks("on PostgreSQL", () => postgresStores(url));
describeTaskPlans("on PostgreSQL", () => postgresStores(url));
describeListPlans("on PostgreSQL", () => postgresStores(url));
describeDeliveryPlans("on PostgreSQL", () => postgresStores(url));
