import { openSqliteFile } from "../../adapters/persistence/sqlite-connection.js";

/** A separate process that holds the write lock of a SQLite file until it is killed. Prints a line when it has it. */
const [file = ""] = process.argv.slice(2);
openSqliteFile(file).execute("begin immediate");
console.log("locked");
setInterval(() => {}, 1_000);
