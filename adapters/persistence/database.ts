import { setTimeout } from "node:timers/promises";
import { type Constructor, IsolationLevel, MikroORM, type Transaction } from "@mikro-orm/core";
import type { AbstractSqlConnection, AbstractSqlDriver } from "@mikro-orm/knex";
import { Migrator } from "@mikro-orm/migrations";
import { SqliteDriver } from "@mikro-orm/sqlite";
import { err, ok, type Result } from "neverthrow";
import type { Row } from "./columns.js";
import { type Dialect, migrationsFor } from "./migrations.js";
import { tables } from "./schema.js";

/** Runs one statement and gives its rows, also those of `returning`. A date goes in as a `Date`. */
export type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** How long a statement waits for another process that is writing to the same SQLite file. */
const SQLITE_BUSY_MILLISECONDS = 10_000;

/** Opens the SQLite file, which is made if there is none, and brings its tables up to date; throws, naming the file. */
export const openDatabase = (file: string): Promise<Database> =>
  open(file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause: error });
  });

const open = async (file: string): Promise<Database> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...common("sqlite"),
    driver: SqliteDriver as unknown as Constructor<AbstractSqlDriver>,
    dbName: file,
    driverOptions: {
      // One connection: with more, transactions of this process would fail on each other's locks.
      pool: { min: 1, max: 1, afterCreate: prepareSqlite },
    },
  });
  const database = new Database(orm, "sqlite");
  try {
    await database.migrate();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
};

/** What both databases are opened with. */
export const common = (dialect: Dialect) => ({
  entities: tables,
  extensions: [Migrator],
  discovery: { disableDynamicFileAccess: true },
  forceUtcTimezone: true,
  migrations: {
    migrationsList: migrationsFor(dialect),
    tableName: "schema_migration",
    snapshot: false,
    disableForeignKeys: false,
    silent: true,
  },
});

type SqliteConnection = {
  configure(option: "busyTimeout", milliseconds: number): void;
  exec(statements: string, done: (error: Error | null) => void): void;
};

const prepareSqlite = (connection: SqliteConnection, done: (error: Error | null, connection: unknown) => void) => {
  connection.configure("busyTimeout", SQLITE_BUSY_MILLISECONDS);
  // Full: what a customer was told is on the disk before they are told, also when the power fails.
  const pragmas = "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on";
  connection.exec(pragmas, (error) => done(error, connection));
};

/**
 * Processes may start together on one empty SQLite file. Its driver reads before it writes, and who loses the race is
 * refused at once, without waiting: a moment later they find the work done.
 */
const MIGRATION_ATTEMPTS = 100;
const MIGRATION_PAUSE_MILLISECONDS = 100;

/** Any number, as long as every version of the service takes the same. */
const MIGRATION_LOCK = 727_274;

/** Of a transaction that PostgreSQL has broken off because of others; nothing of it was kept. */
const TRANSACTION_ATTEMPTS = 5;
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";

/**
 * The open database. Statements go to the driver as they are: no identity map and no entities, so that a read by
 * primary key costs one statement and nothing else.
 */
export class Database {
  readonly dialect: Dialect;
  private readonly orm: MikroORM<AbstractSqlDriver>;

  constructor(orm: MikroORM<AbstractSqlDriver>, dialect: Dialect) {
    this.orm = orm;
    this.dialect = dialect;
  }

  readonly sql: Sql = (statement, parameters) => this.run(statement, parameters);

  /**
   * Commits when `work` gives Ok, rolls back when it gives Err or throws. It must begin with a write: on SQLite a
   * transaction that has read before another process wrote can never write itself, but a first write waits its turn.
   * `work` runs again, a few times at most, if PostgreSQL has broken the transaction off.
   */
  async transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (attempt === TRANSACTION_ATTEMPTS || !isBrokenOff(error)) throw error;
      }
    }
  }

  private async attempt<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    try {
      return ok(
        await this.connection.transactional(async (transaction) => {
          const result = await work((statement, parameters) => this.run(statement, parameters, transaction));
          if (result.isErr()) throw new Rollback(result.error);
          return result.value;
        }),
      );
    } catch (error) {
      if (error instanceof Rollback) return err(error.reason as E);
      throw error;
    }
  }

  /** Every read of `work` sees the database as it was at the first one. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.connection.transactional(
      (transaction) => work((statement, parameters) => this.run(statement, parameters, transaction)),
      // SQLite has no other kind of transaction, and says so when it is asked for one.
      this.dialect === "postgresql" ? { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true } : {},
    );
  }

  /** Brings the tables up to date; any number of processes may do it at once. */
  async migrate(): Promise<void> {
    if (this.dialect === "postgresql") {
      // Held by this transaction while the migrator works on a connection of its own.
      await this.connection.transactional(async (transaction) => {
        await this.run("select pg_advisory_xact_lock(?)", [MIGRATION_LOCK], transaction);
        await this.orm.getMigrator().up();
      });
      return;
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.orm.getMigrator().up();
        return;
      } catch (error) {
        if (attempt === MIGRATION_ATTEMPTS || !isBusy(error)) throw error;
        await setTimeout(MIGRATION_PAUSE_MILLISECONDS);
      }
    }
  }

  /** Whether every migration that this version knows has been run. */
  async isUpToDate(): Promise<boolean> {
    const [table] = await this.sql("select to_regclass('schema_migration') is not null as there");
    if (table?.there !== true) return false;
    const done = new Set((await this.sql("select name from schema_migration")).map(({ name }) => name));
    return migrationsFor(this.dialect).every(({ name }) => done.has(name));
  }

  /** Throws if the database cannot be reached. */
  async ping(): Promise<void> {
    await this.sql("select 1");
  }

  async close(): Promise<void> {
    await this.orm.close(true);
  }

  private get driver(): AbstractSqlDriver {
    return this.orm.em.getDriver();
  }

  private get connection(): AbstractSqlConnection {
    return this.driver.getConnection();
  }

  /** The comment is for SQLite's driver, which drops the rows of `returning` unless the text begins neutrally. */
  private run(statement: string, parameters: readonly unknown[] = [], transaction?: Transaction): Promise<Row[]> {
    return this.driver.execute(`/**/ ${statement}`, [...parameters], "all", transaction);
  }
}

const isBrokenOff = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown }).code;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
};

/** Also the race for the first table of all, which the loser finds made. */
const isBusy = (error: unknown): boolean => error instanceof Error && /SQLITE_BUSY|already exists/.test(error.message);

/** Carries an Err out of the transaction, which only something thrown can roll back. */
class Rollback extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("rollback");
    this.reason = reason;
  }
}
