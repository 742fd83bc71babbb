import { createHmac, randomBytes } from "node:crypto";
import { text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";

const KEY_BYTES = 32;

/** Secrets that all instances of an installation share. They are made once, and only in the database. */
export class SqlInstallationSecrets {
  private readonly database: Database;
  private readonly keys = new Map<string, string>();

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

  /** A digest of the text with the secret of this name as its key, which is made at first. */
  async digest(name: string, of: string): Promise<string> {
    const key = this.keys.get(name) ?? (await this.shared(name, async () => randomBytes(KEY_BYTES).toString("hex")));
    this.keys.set(name, key);
    return createHmac("sha256", Buffer.from(key, "hex")).update(of).digest("hex");
  }
}
