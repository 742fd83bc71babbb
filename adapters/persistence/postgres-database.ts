import { type Constructor, MikroORM } from "@mikro-orm/core";
import type { AbstractSqlDriver } from "@mikro-orm/knex";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { common, Database } from "./database.js";

/*
 * While PostgreSQL is away a request is to fail at once, not to hang: each of these ends one way of waiting for it. They
 * grow from the inside out, so that a live server answers before the connection is given up.
 */
const LOCK_MILLISECONDS = 3_000;
const STATEMENT_MILLISECONDS = 4_000;
/** A transaction whose process was paused or lost must not hold an account's lock. */
const IDLE_IN_TRANSACTION_MILLISECONDS = 4_000;
const CONNECT_MILLISECONDS = 3_000;
/** Waiting for a free connection of the pool. */
const ACQUIRE_MILLISECONDS = 3_000;
/** A connection that is silent for longer than any statement may take leads nowhere any more, or is not needed. */
const SILENCE_MILLISECONDS = 5_000;

/** Opens a PostgreSQL database for serving. Throws if it cannot be reached, or has not been migrated yet. */
export const openPostgresDatabase = async (url: string, connectionsMax: number): Promise<Database> => {
  const database = await connect(url, connectionsMax, {
    connection: {
      lock_timeout: LOCK_MILLISECONDS,
      statement_timeout: STATEMENT_MILLISECONDS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MILLISECONDS,
    },
    pool: { afterCreate: endSilence },
  });
  try {
    if (await database.isUpToDate()) return database;
    throw new Error("The database is not up to date: run `panorama migrate` first.");
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** Brings the tables of a PostgreSQL database up to date; any number of processes may do it at once. */
export const migratePostgresDatabase = async (url: string): Promise<void> => {
  // One connection holds the lock, the other works; a migration may take as long as it needs.
  const database = await connect(url, 2, {});
  try {
    await database.migrate();
  } finally {
    await database.close();
  }
};

type DriverOptions = {
  readonly connection?: Readonly<Record<string, number>>;
  readonly pool?: { readonly afterCreate: typeof endSilence };
};

const connect = async (url: string, connectionsMax: number, { connection, pool }: DriverOptions): Promise<Database> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...common("postgresql"),
    driver: PostgreSqlDriver as unknown as Constructor<AbstractSqlDriver>,
    clientUrl: url,
    connect: false, // on the first statement, which throws what is wrong instead of printing it
    pool: { min: 0, max: connectionsMax },
    driverOptions: {
      // The whole URL once more, for what follows its question mark, such as sslmode.
      connection: {
        connectionString: url,
        application_name: "panorama",
        connectionTimeoutMillis: CONNECT_MILLISECONDS,
        ...connection,
      },
      acquireConnectionTimeout: ACQUIRE_MILLISECONDS,
      log: { warn: () => {} }, // a lost connection is thrown as well, and standard output is not the driver's
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
    readonly stream: { setTimeout(milliseconds: number, ended: () => void): void; destroy(error: Error): void };
  };
};

/** PostgreSQL's own time-outs are of no use when its machine, or the network, is gone without a word. */
const endSilence = (connection: PostgresConnection, done: (error: null, connection: unknown) => void): void => {
  const { stream } = connection.connection;
  stream.setTimeout(SILENCE_MILLISECONDS, () => stream.destroy(new Error("PostgreSQL has not answered in time")));
  done(null, connection);
};
