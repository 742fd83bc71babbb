import { setTimeout } from "node:timers/promises";
import { type Configuration, MikroORM } from "@mikro-orm/core";
import { AbstractSqlDriver, type Knex } from "@mikro-orm/knex";
import { SqlitePlatform } from "@mikro-orm/sqlite";
import { SqliteEntityConnection } from "../orm/connections.js";
import { migrationSteps } from "../schema/migration-steps.js";
import { ormOptions } from "../schema/orm-options.js";
import type { Step } from "../schema/step.js";
import { isBusy } from "../sql/database-error.js";
import { openSqliteFile } from "./open-sqlite-file.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/** Another process may migrate the file for longer than a statement waits. */
const ATTEMPTS = 100;
const PAUSE_MILLISECONDS = 100;

/**
 * Migrates the tables of the SQLite file. Safe if several processes do it concurrently: each waits for the one before
 * it, and then finds them migrated. `steps`: the steps of this version.
 */
export const migrateSqlite = async (file: string, steps: readonly Step[] = migrationSteps): Promise<void> => {
  const orm = MikroORM.initSync({ ...ormOptions("sqlite", steps), driver: SqliteOrmDriver, dbName: file });
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await orm.em
          .getDriver()
          .getConnection()
          .transactional(() => orm.getMigrator().up());
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || !isBusy(error)) throw error;
        await setTimeout(PAUSE_MILLISECONDS);
      }
    }
  } finally {
    await orm.close(true);
  }
};

/** One connection of its own, on which the migrator runs all statements. */
class Connection extends SqliteEntityConnection {
  private file: SqliteConnection | undefined;

  override async close(): Promise<void> {
    this.file?.close();
  }

  override execute<T>(
    query: string | Knex.QueryBuilder | Knex.Raw,
    parameters: unknown[] = [],
    method: "all" | "get" | "run" = "all",
  ): Promise<T> {
    const sql = async (text: string, values: readonly unknown[] = []) => this.open.all(text, values);
    return super.execute(query, parameters, method, { sql });
  }

  /** Begins before it reads. A nested call joins the transaction. */
  override async transactional<T>(work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
    const transaction = { isCompleted: () => false } as Knex.Transaction; // an empty one is refused
    if (this.open.isTransaction) return work(transaction);
    this.open.execute("begin immediate");
    try {
      const result = await work(transaction);
      this.open.execute("commit");
      return result;
    } catch (error) {
      if (this.open.isTransaction) this.open.execute("rollback");
      throw error;
    }
  }

  private get open(): SqliteConnection {
    this.file ??= openSqliteFile(String(this.config.get("dbName")));
    return this.file;
  }
}

/**
 * The ORM's SQLite driver on top of the same SQLite library as the service. Two libraries in one process must not open
 * the same file: closing one's descriptor releases the file locks of the other.
 */
export class SqliteOrmDriver extends AbstractSqlDriver<Connection> {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), Connection, ["knex"]);
  }
}
