import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Bind, ContainerModule } from "inversify";
import { err, type Result } from "neverthrow";
import { tracedDatabase } from "../../adapters/observability/traced.js";
import type { Patience } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import { openDatabaseClock } from "../../adapters/persistence/database/sql/database-clock.js";
import type { SqliteDatabase } from "../../adapters/persistence/database/sqlite/sqlite-database.js";
import { sqlStores } from "../../adapters/persistence/sql-stores.js";
import type { CopiedObjects } from "../../adapters/storage/copy-objects.js";
import { storeUseCases } from "../../application/create-application.js";
import { ConfigurationError, StartError } from "../command-error.js";
import { type Config, sqlitePath } from "../config.js";
import { dataDirProblem } from "../doctor/data-directory.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The database, its clock, and the stores in it. */
export const persistence = new ContainerModule(({ bind }) => {
  bindDatabase(bind);
  bindStores(bind);
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
  const { config, database, clock, reporter, taskMetrics } = tokens;
  const needed = { config, database, clock, reporter, tasks: taskMetrics };
  provide(bind, tokens.stores, needed, ({ config: { policy }, database, clock, reporter, tasks }) => {
    const stores = sqlStores(database, { reporter, clock, tasks, paid: (order) => tasks.paid(order) });
    return { ...stores, ...stores.countersAt(clock, policy.rates) };
  });
};

/** Makes the folder if there is none. Throws if it, or what is in it, cannot be used. */
const makeDataDir = async (config: Config): Promise<void> => {
  const problem = await dataDirProblem(config);
  if (problem !== undefined) throw new ConfigurationError(problem);
  await makeFolder(config.dataDir);
};

/** As `mkdir` with `recursive`, which never ends below /proc. */
const makeFolder = async (folder: string): Promise<void> => {
  if (existsSync(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
};

const objectFolder = (dataDir: string): string => join(dataDir, "objects");

type ConfigDependency = { readonly config: Config };

/** Opening a SQLite file may also make and migrate it. A PostgreSQL database that is not migrated is refused. */
const openConfiguredDatabase = async ({
  config,
  createsDatabase,
  patience,
}: ConfigDependency & { readonly createsDatabase: boolean; readonly patience: Patience }): Promise<
  SqliteDatabase | PostgresDatabase
> => {
  const { databaseUrl, databaseConnections, dataDir } = config;
  if (createsDatabase) await makeDataDir(config);
  // Each driver is loaded only where it is used.
  if (databaseUrl === undefined) {
    const sqlite = await import("../../adapters/persistence/database/sqlite/open-sqlite-database.js");
    const open = createsDatabase ? sqlite.openSqliteDatabase : sqlite.openExistingSqliteDatabase;
    return open(sqlitePath(dataDir));
  }
  const { openPostgresDatabase } = await import(
    "../../adapters/persistence/database/postgres/open-postgres-database.js"
  );
  return openPostgresDatabase(databaseUrl, databaseConnections, patience);
};

/** On SQLite, throws if another `serve` runs in DATA_DIR. On PostgreSQL any number of instances may share it. */
const lockForServe = async ({ config, config: { databaseUrl, dataDir } }: ConfigDependency) => {
  if (databaseUrl !== undefined) return undefined;
  await makeDataDir(config);
  const { lockExclusively } = await import("../../adapters/persistence/database/schema/exclusive-lock.js");
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
    const { migratePostgresDatabase } = await import(
      "../../adapters/persistence/database/postgres/migrate-postgres.js"
    );
    await migratePostgresDatabase(config.databaseUrl);
  };

/** Does not open the database, which would migrate it: a backup is made before an upgrade too. */
const backupConfiguredDatabase =
  ({ config: { databaseUrl, dataDir } }: ConfigDependency) =>
  async (target: string): Promise<Result<void, string>> => {
    if (databaseUrl !== undefined) return err(NOT_SQLITE);
    const { backupSqlite } = await import("../../adapters/persistence/backup-sqlite.js");
    return backupSqlite(sqlitePath(dataDir), target);
  };

const backupConfiguredFolder =
  ({ config: { databaseUrl, dataDir, storage } }: ConfigDependency) =>
  async (target: string): Promise<Result<CopiedObjects, string>> => {
    if (databaseUrl !== undefined) return err(NOT_SQLITE);
    if (storage.kind !== "filesystem") {
      return err(`--objects copies files, and STORAGE is ${storage.kind}. Back up the bucket by its own versions.`);
    }
    const { backupWithObjects } = await import("../backup-with-objects.js");
    return backupWithObjects({ file: sqlitePath(dataDir), objects: objectFolder(dataDir) }, target);
  };

const NOT_SQLITE = "This command copies a SQLite file. For PostgreSQL use pg_dump.";

/** The use cases of the commands. They open the database and nothing else. */
export const useCasesOnStores = new ContainerModule(({ bind }) => {
  const { config, stores, clock, ids, secrets } = tokens;
  provide(bind, tokens.storeUseCases, { config, stores, clock, ids, secrets }, ({ config, stores, ...ports }) =>
    storeUseCases({ ...stores, ...ports }, config),
  );
});
