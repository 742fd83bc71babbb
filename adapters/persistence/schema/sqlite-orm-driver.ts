import type { Configuration, Constructor } from "@mikro-orm/core";
import { AbstractSqlDriver, BaseSqliteConnection, BetterSqliteKnexDialect } from "@mikro-orm/knex";
import { SqlitePlatform } from "@mikro-orm/sqlite";
import { DatabaseSync } from "@photostructure/sqlite";
import { dialectWith } from "../library-internals.js";

/** How long a statement of the migrator waits while another process writes to the file. */
const BUSY_MILLISECONDS = 10_000;

/**
 * The ORM's SQLite driver on top of the same SQLite library as the service. Two libraries in one process must not open
 * the same file: closing one's descriptor releases the file locks of the other.
 */
export class SqliteOrmDriver extends AbstractSqlDriver {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), Connection as unknown as Constructor<BaseSqliteConnection>, ["knex"]);
  }
}

class Connection extends BaseSqliteConnection {
  override createKnex(): void {
    this.client = this.createKnexClient(dialectWith(BetterSqliteKnexDialect, Handle));
    this.connected = true;
  }
}

/** `node:sqlite`'s interface as the dialect expects it, which is better-sqlite3's. */
class Handle {
  private readonly database: InstanceType<typeof DatabaseSync>;

  constructor(file: string) {
    this.database = new DatabaseSync(file, { timeout: BUSY_MILLISECONDS });
    this.database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  }

  prepare(sql: string) {
    const statement = this.database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (parameters: readonly unknown[]) => statement.all(...parameters),
      run: (parameters: readonly unknown[]) => statement.run(...parameters),
    };
  }

  close(): void {
    this.database.close();
  }
}
