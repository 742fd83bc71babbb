import type { SessionStore } from "../../application/ports/session-store.js";
import type { AccountId } from "../../domain/account.js";
import type { Session } from "../../domain/session.js";
import { branded, date, text } from "./columns.js";
import type { Database } from "./database.js";
import { insert } from "./insert.js";

/** Sessions in SQLite or PostgreSQL. */
export class SqlSessionStore implements SessionStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async insert({ tokenSha256, accountId, createdAt, expiresAt }: Session): Promise<void> {
    await insert(this.database.sql, "session", {
      token_sha256: tokenSha256,
      account_id: accountId,
      created_at: createdAt,
      expires_at: expiresAt,
    });
  }

  async find(tokenSha256: string): Promise<Session | undefined> {
    const [row] = await this.database.sql("select * from session where token_sha256 = ?", [tokenSha256]);
    return (
      row && {
        tokenSha256: text(row, "token_sha256"),
        accountId: branded<AccountId>(row, "account_id"),
        createdAt: date(row, "created_at"),
        expiresAt: date(row, "expires_at"),
      }
    );
  }

  async delete(tokenSha256: string): Promise<void> {
    await this.database.sql("delete from session where token_sha256 = ?", [tokenSha256]);
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.database.sql("delete from session where expires_at < ?", [now]);
  }
}
