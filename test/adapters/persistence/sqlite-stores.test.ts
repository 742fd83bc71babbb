import { describeAccountStore } from "../../support/contracts/account-store-contract.js";
import { describeSessionStore } from "../../support/contracts/session-store-contract.js";
import { describeTaskStore } from "../../support/contracts/task-store-contract.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

describeTaskStore("SQLite", sqliteStores);
describeAccountStore("SQLite", sqliteStores);
describeSessionStore("SQLite", sqliteStores);
