import { type Constructor, MikroORM } from "@mikro-orm/core";
import type { AbstractSqlDriver } from "@mikro-orm/knex";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { commonOptions, Database } from "./database.js";

/*
 * While PostgreSQL is unavailable, requests must fail within seconds. Each timeout limits one kind of waiting. Outer
 * timeouts are longer than inner ones, so that a live server reports its error before the connection is closed.
 */
const LOCK_MILLISECONDS = 3_000;
const STATEMENT_MILLISECONDS = 4_000;
/** Releases the locks of a transaction whose process is paused or unreachable. */
const IDLE_IN_TRANSACTION_MILLISECONDS = 4_000;
const CONNECT_MILLISECONDS = 3_000;
/** For a free connection of the pool. */
const ACQUIRE_MILLISECONDS = 3_000;
/** A connection without traffic for longer than any statement may take is either broken or idle, so it is closed. */
const SILENCE_MILLISECONDS = 5_000;

/** Opens a PostgreSQL database for the service. Throws if it is unreachable or not migrated to this version. */
export const openPostgresDatabase = async (url: string, connectionsMax: number): Promise<Database> => {
  const database = await connect(url, connectionsMax, {
    connection: {
      lock_timeout: LOCK_MILLISECONDS,
      statement_timeout: STATEMENT_MILLISECONDS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
    },
    pool: { afterCreate: closeSilentConnection },
  });
  try {
    if (await database.isUpToDate()) return database;
    throw new Error("The database is not up to date: run `panorama migrate` first.");
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** Migrates the tables of a PostgreSQL database. Safe if several processes do it concurrently. */
export const migratePostgresDatabase = async (url: string): Promise<void> => {
  // One connection holds the lock, the other one migrates. There are no timeouts, because a migration may take long.
  const database = await connect(url, 2, {});
  try {
    await database.migrate();
  } finally {
    await database.close();
  }
};

type DriverOptions = {
  readonly connection?: Readonly<Record<string, number>>;
  readonly pool?: { readonly afterCreate: typeof closeSilentConnection };
};

const connect = async (url: string, connectionsMax: number, { connection, pool }: DriverOptions): Promise<Database> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...commonOptions("postgresql"),
    driver: PostgreSqlDriver as unknown as Constructor<AbstractSqlDriver>,
    clientUrl: url,
    connect: false, // the first statement connects, and throws errors instead of printing them
    pool: { min: 0, max: connectionsMax },
    driverOptions: {
      // The ORM drops the URL's query parameters, such as sslmode, so the driver receives the complete URL here.
      connection: {
        connectionString: url,
        application_name: "panorama",
        connectionTimeoutMillis: CONNECT_MILLISECONDS,
        ...connection,
      },
      acquireConnectionTimeout: ACQUIRE_MILLISECONDS,
      log: { warn: () => {} }, // a lost connection is also thrown, and the driver must not write to standard output
      ...(pool && { pool }),
    },
  });
  const database = new Database(orm, "postgresql");
  try {
    await database.ping();
    return database;
  } catch (error) {
    await database.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`PostgreSQL cannot be reached: ${reason}`, { cause: error });
  }
};

type PostgresConnection = {
  readonly connection: {
    readonly stream: { setTimeout(milliseconds: number, onTimeout: () => void): void; destroy(error: Error): void };
  };
};

/** PostgreSQL's own timeouts do not work if its machine or the network fails silently, so the client has one too. */
const closeSilentConnection = (
  connection: PostgresConnection,
  done: (error: null, connection: unknown) => void,
): void => {
  const { stream } = connection.connection;
  stream.setTimeout(SILENCE_MILLISECONDS, () => stream.destroy(new Error("PostgreSQL did not respond in time")));
  done(null, connection);
};
