import { text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";

/** Secrets that all instances of an installation share. They are made once, and only in the database. */
export class SqlInstallationSecrets {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async read(name: string): Promise<string | undefined> {
    const [row] = await this.database.sql("select value from installation_secret where name = ?", [name]);
    return row && text(row, "value");
  }

  /** The secret, made at first. If several instances make it at the same time, all get that of the first one. */
  async shared(name: string, make: () => Promise<string>): Promise<string> {
    const known = await this.read(name);
    if (known !== undefined) return known;
    await this.database.sql(
      "insert into installation_secret (name, value) values (?, ?) on conflict (name) do nothing",
      [name, await make()],
    );
    return (await this.read(name)) as string;
  }
}
