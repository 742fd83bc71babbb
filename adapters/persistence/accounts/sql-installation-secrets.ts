import { text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";

/** Secrets that all instances of an installation share. They are made once, and only in the database. */
export class SqlInstallationSecrets {
  private readonly database: Pick<Database, "sql">;

  constructor(database: Pick<Database, "sql">) {
    this.database = database;
  }

  async read(name: string): Promise<string | undefined> {
    const [row] = await this.database.sql("select value from installation_secret where name = ?", [name]);
    return row && text(row, "value");
  }

  /** The secret, made on first use. If several instances make it at the same time, all get the first one. */
  async shared(name: string, make: () => Promise<string>): Promise<string> {
    const known = await this.read(name);
    if (known !== undefined) return known;
    const [row = {}] = await this.database.sql(
      `insert into installation_secret (name, value) values (?, ?)
      on conflict (name) do update set name = excluded.name returning value`,
      [name, await make()],
    );
    return text(row, "value");
  }
}
