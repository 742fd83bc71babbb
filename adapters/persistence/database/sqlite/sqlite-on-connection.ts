import { StoreBusy } from "../../../../application/ports/stores/store-errors.js";
import type { SqliteInstallation } from "../schema/installation.js";
import { namesWithPrefix } from "../schema/table-names.js";
import type { Sql } from "../sql/database.js";
import { isBusy } from "../sql/database-error.js";
import { type JoinedDatabase, joinedDatabase } from "../sql/joined-database.js";
import { fullOr } from "./require-room.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { SqliteDatabase } from "./sqlite-database.js";

/** A database on the connection of an embedder. */
export const databaseOnConnection = ({ sqlite, prefix }: SqliteInstallation): SqliteDatabase =>
  new SqliteDatabase(new SqliteConnection(sqlite, namesWithPrefix(prefix)));

/** The same tables in the transaction that is open on a connection of the embedder. */
export const joinedOnConnection = ({ sqlite, prefix }: SqliteInstallation): JoinedDatabase => {
  const connection = new SqliteConnection(sqlite, namesWithPrefix(prefix));
  const sql: Sql = async (statement, parameters = []) => {
    if (!connection.isTransaction) throw new Error("No transaction is open on this connection.");
    try {
      return connection.all(statement, parameters);
    } catch (error) {
      if (!isBusy(error)) throw fullOr(error);
      const advice = "Begin the transaction with begin immediate, which waits for it.";
      throw new StoreBusy(`Another process writes to the SQLite file. ${advice}`, { cause: error });
    }
  };
  return joinedDatabase(sqlite, { dialect: "sqlite", sql });
};
