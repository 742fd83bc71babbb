import { afterEach, beforeEach, describe, it } from "vitest";
import { describeStores } from "../../../adapters/contracts/store-contracts.js";
import { describeConcurrentUploads } from "../../support/contracts/concurrent-uploads-contract.js";
import {
  describeDeliveryPlans,
  describeListPlans,
  describeTaskPlans,
} from "../../support/contracts/task-plans-contract.js";
import { describeUnreadableTasks } from "../../support/contracts/unreadable-tasks-contract.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

describeStores({ describe, it, beforeEach, afterEach }, "on SQLite", sqliteStores);
describeConcurrentUploads("on SQLite", sqliteStores);
describeUnreadableTasks("on SQLite", sqliteStores);
describeTaskPlans("on SQLite", sqliteStores);
describeListPlans("on SQLite", sqliteStores);
describeDeliveryPlans("on SQLite", sqliteStores);
