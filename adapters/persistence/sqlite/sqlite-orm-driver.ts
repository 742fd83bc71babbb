import type { Configuration } from "@mikro-orm/core";
import { AbstractSqlDriver, type Knex } from "@mikro-orm/knex";
import { SqlitePlatform } from "@mikro-orm/sqlite";
import { SqliteEntityConnection } from "../orm/connections.js";
import type { Sql } from "../sql/database.js";
import { openSqliteFile } from "./open-sqlite-file.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/**
 * The ORM's SQLite driver on top of the same SQLite library as the service. Two libraries in one process must not open
 * the same file: closing one's descriptor releases the file locks of the other.
 */
export class SqliteOrmDriver extends AbstractSqlDriver<Connection> {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), Connection, ["knex"]);
  }
}

/** One connection of its own, on which the migrator runs all statements. */
class Connection extends SqliteEntityConnection {
  private file: SqliteConnection | undefined;

  override connect(): void {
    this.file = openSqliteFile(String(this.config.get("dbName")));
    super.connect();
  }

  override async close(): Promise<void> {
    this.file?.close();
  }

  override async execute<T>(
    query: string | Knex.QueryBuilder | Knex.Raw,
    parameters: unknown[] = [],
    method: "all" | "get" | "run" = "all",
  ): Promise<T> {
    await this.ensureConnection();
    const sql: Sql = async (text, values = []) => this.open.all(text, values);
    return super.execute(query, parameters, method, { sql });
  }

  /** A step is part of the transaction of all steps. */
  override async transactional<T>(work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
    await this.ensureConnection();
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
    if (this.file === undefined) throw new Error("The SQLite file is not open.");
    return this.file;
  }
}
