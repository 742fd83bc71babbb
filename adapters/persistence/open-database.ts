import type { Installation } from "./database/schema/installation.js";
import { stepsOf } from "./database/schema/table-sets.js";
import type { AnyDatabase } from "./database/sql/database.js";

/**
 * Opens an installation in an embedder's database, for `sqlStores` and `SqlMeterStore`. Throws if its tables are not
 * migrated to this version (`migrate`), or if the connection has settings with which the stores cannot keep their
 * promises.
 *
 * **PostgreSQL**: the pool stays the embedder's. No setting of a connection is changed, statements name their schema,
 * and transactions set their isolation level and their limits of time for themselves, in the message that begins them:
 * so a statement costs one round trip. A read or a write of one statement is under the pool's `statement_timeout` and
 * `query_timeout`, and waits for a connection as long as `connectionTimeoutMillis` says: set all three, as they are
 * unlimited by default. Nothing is pipelined, as the service does on its own connections. The stores use no `LISTEN`,
 * no temporary table and no session variable; advisory locks only in `migrate`, until the end of its transaction.
 * Statements are prepared under names that begin with `panorama_`: a pooler in front of PostgreSQL must support that.
 *
 * **SQLite**: the stores share the connection with the embedder's statements, which are never part of one of their
 * transactions. They wait up to 10 s for a transaction that the embedder has left open, and for other processes. The
 * embedder's pragmas decide how durable a commit is (`synchronous`, `journal_mode`), and its `timeout` how long a
 * locked file may block the process.
 */
export async function openDatabase(installation: Installation): Promise<AnyDatabase> {
  const database = await databaseOf(installation);
  if (await database.isMigrated(stepsOf(installation.tables))) return database;
  throw new Error(`The tables of ${nameOf(installation)} are not up to date: call migrate() first.`);
}

/** Each driver is loaded only where it is used. */
const databaseOf = async (installation: Installation) =>
  "pool" in installation
    ? (await import("./database/postgres/postgres-database.js")).databaseInPool(installation)
    : (await import("./database/sqlite/sqlite-on-connection.js")).databaseOnConnection(installation);

function nameOf(installation: Installation): string {
  if ("pool" in installation)
    return installation.schema === undefined ? "search_path" : `schema ${installation.schema}`;
  return installation.prefix === undefined ? "the database" : `prefix ${installation.prefix}`;
}
