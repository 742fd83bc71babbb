import { describeStores } from "../../support/contracts/store-contracts.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

describeStores("on SQLite", sqliteStores);
