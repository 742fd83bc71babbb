import { migrationState, requireCurrent } from "../schema/migration-state.js";
import { OWN_DATABASE } from "../schema/table-names.js";
import { cannotConnect, DatabaseError } from "../sql/database-error.js";
import { PostgresConnections } from "./postgres-connections.js";
import {
  IDLE_IN_TRANSACTION_MILLISECONDS,
  LOCK_MILLISECONDS,
  PostgresDatabase,
  STATEMENT_MILLISECONDS,
} from "./postgres-database.js";

/*
 * Requests must fail quickly while PostgreSQL is unavailable. The timeouts grow from the inside out, so that a live
 * server answers before the connection is closed.
 */

/** Opening a connection, and waiting for a free one of the pool. */
const CONNECT_MILLISECONDS = 3_000;
/** A server that is silent for longer than any statement may take is unreachable; the connection is closed. */
const RESPONSE_MILLISECONDS = 5_000;
const IDLE_MILLISECONDS = 10_000;

/** Time limits of statements: of requests, or of a command, for which only its operator waits. */
export type Patience = "requests" | "commands";

/** A command reads whole tables. It waits for locks and for a silent server, too, but not for ever. */
const COMMAND_LOCK_MILLISECONDS = 60_000;
const COMMAND_RESPONSE_MILLISECONDS = 60 * 60_000;

/** Opens a PostgreSQL database for the service. Throws if it is unreachable or not migrated to this version. */
export async function openPostgresDatabase(
  url: string,
  connectionsMax: number,
  patience: Patience = "requests",
): Promise<PostgresDatabase> {
  const database = postgresDatabase(url, connectionsMax, patience);
  try {
    await database.ping().catch((error: unknown) => {
      throw cannotConnect(error);
    });
    if (patience === "requests") await requireWritable(database);
    requireCurrent("The database", migrationState(await database.recordedSteps()));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Throws if the server only reads. Commands may read there. */
export async function requireWritable({ sql }: Pick<PostgresDatabase, "sql">): Promise<void> {
  const [row] = await sql("select current_setting('transaction_read_only') as answer");
  if (row?.answer !== "on") return;
  const problem = "PostgreSQL can only be read: it is a standby, or default_transaction_read_only is on";
  throw new DatabaseError("configuration", `${problem}. Set DATABASE_URL to the primary server.`);
}

/** A database on connections of its own, which are opened when they are needed. */
export function postgresDatabase(
  url: string,
  connectionsMax: number,
  patience: Patience = "requests",
): PostgresDatabase {
  const isCommand = patience === "commands";
  const config = {
    connectionString: url,
    application_name: "panorama",
    lock_timeout: isCommand ? COMMAND_LOCK_MILLISECONDS : LOCK_MILLISECONDS,
    statement_timeout: isCommand ? 0 : STATEMENT_MILLISECONDS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
  };
  const connections = new PostgresConnections(config, connectionsMax, {
    connectMilliseconds: CONNECT_MILLISECONDS,
    waitMilliseconds: isCommand ? COMMAND_RESPONSE_MILLISECONDS : CONNECT_MILLISECONDS,
    responseMilliseconds: isCommand ? COMMAND_RESPONSE_MILLISECONDS : RESPONSE_MILLISECONDS,
    idleMilliseconds: IDLE_MILLISECONDS,
  });
  return new PostgresDatabase(connections, OWN_DATABASE, "");
}
