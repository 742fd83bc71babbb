import type { MadeFile, ProvenanceLog } from "../../../application/ports/stores/provenance-log.js";
import { date, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { SqlInstallationSecrets } from "./sql-installation-secrets.js";

const KEY_NAME = "provenance-log";

/** The log in SQLite or PostgreSQL. Its key is a secret of the installation. */
export class SqlProvenanceLog implements ProvenanceLog {
  private readonly database: Database;
  private readonly secrets: SqlInstallationSecrets;

  constructor(database: Database) {
    this.database = database;
    this.secrets = new SqlInstallationSecrets(database);
  }

  async record(files: readonly MadeFile[]): Promise<void> {
    if (files.length === 0) return;
    const rows = await Promise.all(
      files.map(async ({ sha256, provider, madeAt }) => [await this.digestOf(sha256), provider, madeAt]),
    );
    const places = rows.map(() => "(?, ?, ?)").join(", ");
    await this.database.sql(
      `insert into made_file (digest, provider, made_at) values ${places} on conflict (digest) do nothing`,
      rows.flat(),
    );
  }

  async find(sha256: string): Promise<MadeFile | undefined> {
    const [row] = await this.database.sql("select provider, made_at from made_file where digest = ?", [
      await this.digestOf(sha256),
    ]);
    return row && { sha256, provider: text(row, "provider"), madeAt: date(row, "made_at") };
  }

  private digestOf(sha256: string): Promise<string> {
    return this.secrets.digest(KEY_NAME, sha256);
  }
}
