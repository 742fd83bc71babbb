import { setTimeout } from "node:timers/promises";
import { type Constructor, IsolationLevel, MikroORM, type Transaction } from "@mikro-orm/core";
import type { AbstractSqlConnection, AbstractSqlDriver } from "@mikro-orm/knex";
import { Migrator } from "@mikro-orm/migrations";
import { SqliteDriver } from "@mikro-orm/sqlite";
import { err, ok, type Result } from "neverthrow";
import type { Row } from "./columns.js";
import { type Dialect, migrationsFor } from "./migrations.js";
import { tables } from "./schema.js";

/** Runs one statement and returns its rows, including those of `returning`. Dates are passed as `Date`. */
export type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** How long a statement waits while another process writes to the same SQLite file. */
const SQLITE_BUSY_MILLISECONDS = 10_000;

/** Opens the SQLite file, creates it if necessary and migrates its tables. Throws an error that names the file. */
export const openDatabase = (file: string): Promise<Database> =>
  open(file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause: error });
  });

const open = async (file: string): Promise<Database> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...commonOptions("sqlite"),
    driver: SqliteDriver as unknown as Constructor<AbstractSqlDriver>,
    dbName: file,
    driverOptions: {
      // One connection: several transactions of this process would fail on each other's locks.
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

/** The ORM options for both dialects. */
export const commonOptions = (dialect: Dialect) => ({
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
  // Full: data is on the disk before a customer receives the response, so that it survives a power failure.
  const pragmas = "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on";
  connection.exec(pragmas, (error) => done(error, connection));
};

/**
 * Several processes may start on one empty SQLite file at the same time. The migrator reads before it writes, so all
 * processes but one fail at once with SQLITE_BUSY. They retry and then find the tables migrated.
 */
const MIGRATION_ATTEMPTS = 100;
const MIGRATION_PAUSE_MILLISECONDS = 100;

/** An arbitrary number, which must be the same in every version of the service. */
const MIGRATION_LOCK = 727_274;

/** Attempts when PostgreSQL aborts a transaction (serialization failure or deadlock). */
const TRANSACTION_ATTEMPTS = 5;
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";

/**
 * An open database. Statements go directly to the driver, without identity map or entities, so that a read by primary
 * key costs exactly one statement.
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
   * Commits if `work` returns Ok; rolls back if it returns Err or throws. `work` must begin with a write: on SQLite, a
   * transaction cannot write after it has read a state that another process has changed since, but a first write waits
   * for the lock. If PostgreSQL aborts the transaction, `work` runs again, at most five times in total.
   */
  async transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (attempt === TRANSACTION_ATTEMPTS || !isAborted(error)) throw error;
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

  /** All reads of `work` see the database as of the first read. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.connection.transactional(
      (transaction) => work((statement, parameters) => this.run(statement, parameters, transaction)),
      // SQLite transactions are always snapshots, and its driver rejects the options.
      this.dialect === "postgresql" ? { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true } : {},
    );
  }

  /** Migrates the tables to this version. Safe if several processes do it concurrently. */
  async migrate(): Promise<void> {
    if (this.dialect === "postgresql") {
      // This transaction holds the lock while the migrator uses another connection.
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

  /** Whether all migrations of this version have run. */
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

  /** The leading comment makes SQLite's driver return the rows of `returning`: it decides by the first word. */
  private run(statement: string, parameters: readonly unknown[] = [], transaction?: Transaction): Promise<Row[]> {
    return this.driver.execute(`/**/ ${statement}`, [...parameters], "all", transaction);
  }
}

const isAborted = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown }).code;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
};

/** `already exists`: another process has just created the table of migrations. */
const isBusy = (error: unknown): boolean => error instanceof Error && /SQLITE_BUSY|already exists/.test(error.message);

/** Carries an Err out of the transaction, because the ORM rolls back only if an error is thrown. */
class Rollback extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("rollback");
    this.reason = reason;
  }
}
