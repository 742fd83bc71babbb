import { describeStores } from "../../support/contracts/store-contracts.js";
import {
  describeDeliveryPlans,
  describeListPlans,
  describeTaskPlans,
} from "../../support/contracts/task-plans-contract.js";
import { describeUnreadableTasks } from "../../support/contracts/unreadable-tasks-contract.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

describeStores("on SQLite", sqliteStores);
describeUnreadableTasks("on SQLite", sqliteStores);
describeTaskPlans("on SQLite", sqliteStores);
describeListPlans("on SQLite", sqliteStores);
describeDeliveryPlans("on SQLite", sqliteStores);
