import { openSqliteFile } from "../../dist/adapters/persistence/database/sqlite/open-sqlite-file.js";

/** A separate process that holds the write lock of a SQLite file until it is killed. Prints a line when it has it. */
const [file = ""] = process.argv.slice(2);
const connection = openSqliteFile(file);
connection.execute("begin immediate");
console.log("locked");
// Uses the connection: the garbage collector closes one that is not used any more, which gives the lock back.
setInterval(() => connection.execute("select 1"), 1_000);
