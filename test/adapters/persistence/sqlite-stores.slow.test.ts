import { describeSqlStores } from "../../support/contracts/sql-stores-contract.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

describeSqlStores("on SQLite", sqliteStores);
