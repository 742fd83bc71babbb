import type { SessionStore } from "../../../../application/ports/stores/account-stores.js";
import { SESSIONS_MAX, type Session } from "../../../../domain/accounts/session.js";
import type { AccountId } from "../../../../domain/ids.js";
import { branded, date, text } from "../../sql/columns.js";
import type { Database } from "../../sql/database.js";

/** Sessions in SQLite or PostgreSQL. */
export class SqlSessionStore implements SessionStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async insert({ tokenSha256, accountId, createdAt, expiresAt }: Session, passwordHash: string): Promise<boolean> {
    const inserted = await this.database.sql(
      `insert into session (token_sha256, account_id, created_at, expires_at)
      select ?, id, ?, ? from account where id = ? and password_hash = ? ${this.whileUnchanged} returning token_sha256`,
      [tokenSha256, createdAt, expiresAt, accountId, passwordHash],
    );
    if (inserted.length === 0) return false;
    await this.database.sql(
      `delete from session where account_id = ? and token_sha256 not in (
        select token_sha256 from session where account_id = ? order by created_at desc, token_sha256 limit ?
      )`,
      [accountId, accountId, SESSIONS_MAX],
    );
    return true;
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

  /** A concurrent change of the password waits for this lock, and then sees the new session. SQLite has one writer. */
  private get whileUnchanged(): string {
    return this.database.dialect === "postgresql" ? "for share" : "";
  }
}
