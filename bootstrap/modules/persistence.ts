import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Bind, ContainerModule } from "inversify";
import { err, type Result } from "neverthrow";
import { tracedDatabase } from "../../adapters/observability/traced.js";
import type { Patience } from "../../adapters/persistence/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/postgres/postgres-database.js";
import { PostgresApiRequests } from "../../adapters/persistence/prepared/postgres-api-requests.js";
import { PostgresRateLimits } from "../../adapters/persistence/prepared/postgres-rate-limits.js";
import { SqlEventStore } from "../../adapters/persistence/prepared/sql-event-store.js";
import { SqlLedgerStore } from "../../adapters/persistence/prepared/sql-ledger-store.js";
import { SqliteApiRequests } from "../../adapters/persistence/prepared/sqlite-api-requests.js";
import { sqlTasks } from "../../adapters/persistence/prepared/tasks/sql-tasks.js";
import { openDatabaseClock } from "../../adapters/persistence/sql/database-clock.js";
import type { SqliteDatabase } from "../../adapters/persistence/sqlite/sqlite-database.js";
import { SqlAccountStore } from "../../adapters/persistence/stores/accounts/sql-account-store.js";
import { SqlApiKeyStore } from "../../adapters/persistence/stores/accounts/sql-api-key-store.js";
import { SqlPasswordLinkStore } from "../../adapters/persistence/stores/accounts/sql-password-link-store.js";
import { SqlSessionStore } from "../../adapters/persistence/stores/accounts/sql-session-store.js";
import { MemoryRateLimits } from "../../adapters/persistence/stores/memory-rate-limits.js";
import { SqlDeliveryStore } from "../../adapters/persistence/stores/sql-delivery-store.js";
import { SqlEndpointStore } from "../../adapters/persistence/stores/sql-endpoint-store.js";
import { SqlLetterOutbox } from "../../adapters/persistence/stores/sql-letter-outbox.js";
import { SqlOperatorLog } from "../../adapters/persistence/stores/sql-operator-log.js";
import { SqlOperatorStore } from "../../adapters/persistence/stores/sql-operator-store.js";
import { SqlOrderStore } from "../../adapters/persistence/stores/sql-order-store.js";
import { SqlReferenceStore } from "../../adapters/persistence/stores/sql-reference-store.js";
import type { CopiedObjects } from "../../adapters/storage/copy-objects.js";
import type { Config } from "../config.js";
import { ConfigurationError, StartError } from "../configuration-error.js";
import { unwritableDataDir } from "../doctor/data-directory.js";
import { provide } from "../provide.js";
import { sqliteFile } from "../sqlite-file.js";
import { tokens } from "../tokens.js";

/** The database, its clock, and the stores in it. */
export const persistence = new ContainerModule(({ bind }) => {
  bindDatabase(bind);
  bindStores(bind);
  bindRateCounters(bind);
});

const bindDatabase = (bind: Bind): void => {
  const { config, database, createsDatabase, patience, tracing } = tokens;
  provide(bind, tokens.database, { config, createsDatabase, patience, tracing }, async ({ tracing, ...how }) => {
    const opened = await openConfiguredDatabase(how);
    return tracing === "off" ? opened : tracedDatabase(opened, tracing);
  }).onDeactivation((database) => database.close());
  provide(bind, tokens.clock, { database, onCompared: tokens.onClockCompared }, ({ database, onCompared }) =>
    openDatabaseClock(database, { onCompared }),
  ).onDeactivation((clock) => clock.close());
  provide(bind, tokens.migrateDatabase, { config }, migrateConfiguredDatabase);
  provide(bind, tokens.backupDatabase, { config }, backupConfiguredDatabase);
  provide(bind, tokens.backupWithObjects, { config }, backupConfiguredFolder);
  provide(bind, tokens.serveLock, { config }, lockForServe).onDeactivation((lock) => lock?.release());
};

const bindStores = (bind: Bind): void => {
  const { database, clock, reporter, taskMetrics } = tokens;
  provide(
    bind,
    tokens.tasks,
    { database, clock, reporter, taskMetrics },
    ({ database, clock, reporter, taskMetrics }) => sqlTasks(database, { reporter, observer: taskMetrics, clock }),
  );
  provide(bind, tokens.accounts, { database }, ({ database }) => new SqlAccountStore(database));
  provide(
    bind,
    tokens.orders,
    { database, taskMetrics },
    ({ database, taskMetrics }) => new SqlOrderStore(database, (order) => taskMetrics.paid(order)),
  );
  provide(bind, tokens.keys, { database }, ({ database }) => new SqlApiKeyStore(database));
  provide(bind, tokens.ledger, { database }, ({ database }) => new SqlLedgerStore(database));
  provide(bind, tokens.letterOutbox, { database }, ({ database }) => new SqlLetterOutbox(database));
  provide(bind, tokens.links, { database }, ({ database }) => new SqlPasswordLinkStore(database));
  provide(bind, tokens.endpoints, { database }, ({ database }) => new SqlEndpointStore(database));
  provide(
    bind,
    tokens.deliveries,
    { database, reporter },
    ({ database, reporter }) => new SqlDeliveryStore(database, reporter),
  );
  provide(
    bind,
    tokens.events,
    { database, reporter },
    ({ database, reporter }) => new SqlEventStore(database, reporter),
  );
  provide(bind, tokens.references, { database }, ({ database }) => new SqlReferenceStore(database));
  provide(bind, tokens.operators, { database }, ({ database }) => new SqlOperatorStore(database));
  provide(bind, tokens.operatorLog, { database }, ({ database }) => new SqlOperatorLog(database));
  provide(bind, tokens.sessions, { database }, ({ database }) => new SqlSessionStore(database));
};

/** On PostgreSQL all instances share their counters. A SQLite file has one instance, which counts in memory. */
const bindRateCounters = (bind: Bind): void => {
  const { config, database, clock, rateLimits } = tokens;
  provide(bind, rateLimits, { config, database, clock }, ({ config: { policy }, database, clock }) =>
    database.dialect === "postgresql"
      ? new PostgresRateLimits(database, clock, policy.rates)
      : new MemoryRateLimits(clock, policy.rates),
  );
  const counted = { config, database, clock, rateLimits };
  provide(bind, tokens.apiRequests, counted, ({ config: { policy }, database, clock, rateLimits }) =>
    database.dialect === "postgresql"
      ? new PostgresApiRequests(database, clock, policy.rates)
      : new SqliteApiRequests(database, rateLimits, clock),
  );
};

/** Makes the folder if there is none. Throws if nothing can be written there. */
const makeDataDir = async (dataDir: string): Promise<void> => {
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigurationError(unwritableDataDir(dataDir, error), { cause: error });
  }
};

const objectFolder = (dataDir: string): string => join(dataDir, "objects");

type ConfigDependency = { readonly config: Config };

/** Opening a SQLite file may also make and migrate it. A PostgreSQL database that is not migrated is refused. */
const openConfiguredDatabase = async ({
  config: { databaseUrl, databaseConnections, dataDir },
  createsDatabase,
  patience,
}: ConfigDependency & { readonly createsDatabase: boolean; readonly patience: Patience }): Promise<
  SqliteDatabase | PostgresDatabase
> => {
  if (createsDatabase) await makeDataDir(dataDir);
  // Each driver is loaded only where it is used.
  if (databaseUrl === undefined) {
    const sqlite = await import("../../adapters/persistence/sqlite/open-sqlite-database.js");
    const open = createsDatabase ? sqlite.openSqliteDatabase : sqlite.openExistingSqliteDatabase;
    return open(sqliteFile(dataDir));
  }
  const { openPostgresDatabase } = await import("../../adapters/persistence/postgres/open-postgres-database.js");
  return openPostgresDatabase(databaseUrl, databaseConnections, patience);
};

/** On SQLite, throws if another `serve` runs in DATA_DIR. On PostgreSQL any number of instances may share it. */
const lockForServe = async ({ config: { databaseUrl, dataDir } }: ConfigDependency) => {
  if (databaseUrl !== undefined) return undefined;
  await makeDataDir(dataDir);
  const { lockExclusively } = await import("../../adapters/persistence/schema/exclusive-lock.js");
  const lock = lockExclusively(join(dataDir, "serve.lock"));
  if (lock !== undefined) return lock;
  throw new StartError(
    "refused",
    `Another panorama serve runs in DATA_DIR ${dataDir}. Stop it, or set another DATA_DIR, or set DATABASE_URL: only instances on PostgreSQL can share their data.`,
  );
};

const migrateConfiguredDatabase =
  ({ config }: ConfigDependency) =>
  async (): Promise<void> => {
    if (config.databaseUrl === undefined) {
      const database = await openConfiguredDatabase({ config, createsDatabase: true, patience: "commands" });
      return database.close();
    }
    const { migratePostgresDatabase } = await import("../../adapters/persistence/postgres/migrate-postgres.js");
    await migratePostgresDatabase(config.databaseUrl);
  };

/** Does not open the database, which would migrate it: a backup is made before an upgrade too. */
const backupConfiguredDatabase =
  ({ config: { databaseUrl, dataDir } }: ConfigDependency) =>
  async (target: string): Promise<Result<void, string>> => {
    if (databaseUrl !== undefined) return err(NOT_SQLITE);
    const { backupSqlite } = await import("../../adapters/persistence/backup-sqlite.js");
    return backupSqlite(sqliteFile(dataDir), target);
  };

const backupConfiguredFolder =
  ({ config: { databaseUrl, dataDir, storage } }: ConfigDependency) =>
  async (target: string): Promise<Result<CopiedObjects, string>> => {
    if (databaseUrl !== undefined) return err(NOT_SQLITE);
    if (storage.kind !== "filesystem") {
      return err(`--objects copies files, and STORAGE is ${storage.kind}. Back up the bucket by its own versions.`);
    }
    const { backupWithObjects } = await import("../backup-with-objects.js");
    return backupWithObjects({ file: sqliteFile(dataDir), objects: objectFolder(dataDir) }, target);
  };

const NOT_SQLITE = "This command copies a SQLite file. For PostgreSQL use pg_dump.";
