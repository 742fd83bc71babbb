import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { stress } from "./account-stress.js";

/** One of two processes on the database of this URL: reports which pairs it has run. */
const [url = "", milliseconds = "1000"] = process.argv.slice(2);
const database = await openPostgresDatabase(url, 8);
const result = await stress(database, 8, Number(milliseconds));
await database.close();
process.send?.(result);
