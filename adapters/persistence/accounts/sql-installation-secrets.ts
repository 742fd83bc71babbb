import { EntityStore } from "../database/orm/entities.js";
import { InstallationSecretTable } from "../database/schema/schema.js";
import { text } from "../database/sql/columns.js";

/** Secrets that all instances of an installation share. They are made once, and only in the database. */
export class SqlInstallationSecrets extends EntityStore {
  async read(name: string): Promise<string | undefined> {
    const secret = await this.entities.findOne(InstallationSecretTable, name);
    return secret === null ? undefined : text(secret, "value");
  }

  /** The secret, made on first use. If several instances make it at the same time, all get the first one. */
  async shared(name: string, make: () => Promise<string>): Promise<string> {
    const known = await this.read(name);
    if (known !== undefined) return known;
    const mine = { name, value: await make() };
    const secret = await this.entities.upsert(InstallationSecretTable, mine, {
      onConflictAction: "ignore",
    });
    return text(secret, "value");
  }
}
