import { err, ok, type Result } from "neverthrow";
import type {
  EmailTaken,
  LinkExpired,
  PasswordLinkStore,
  Redemption,
} from "../../../../application/ports/stores/account-stores.js";
import type { Email } from "../../../../domain/accounts/account.js";
import type { PasswordLink } from "../../../../domain/accounts/password.js";
import type { AccountId } from "../../../../domain/ids.js";
import { deleteAccess, deleteLinks } from "../../rows/delete-access.js";
import { entryRow } from "../../rows/ledger-rows.js";
import { lockAccount } from "../../rows/lock-account.js";
import { branded } from "../../sql/columns.js";
import type { Database, Sql } from "../../sql/database.js";
import { insert } from "../../sql/insert.js";

const UNIQUE_VIOLATION = "23505";

/** Password links in SQLite or PostgreSQL. */
export class SqlPasswordLinkStore implements PasswordLinkStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async insert({ tokenSha256, email, expiresAt }: PasswordLink, now: Date, liveMax: number): Promise<boolean> {
    await this.database.sql("delete from password_link where expires_at <= ?", [now]);
    const inserted = await this.database.sql(
      `insert into password_link (token_sha256, email, expires_at)
      select ?, ?, ? where (select count(*) from password_link where email = ?) < ? returning token_sha256`,
      [tokenSha256, email, expiresAt, email, liveMax],
    );
    return inserted.length === 1;
  }

  async find(tokenSha256: string, now: Date): Promise<Email | undefined> {
    const [row] = await this.database.sql("select email from password_link where token_sha256 = ? and expires_at > ?", [
      tokenSha256,
      now,
    ]);
    return row && branded<Email>(row, "email");
  }

  redeem(
    tokenSha256: string,
    { passwordHash, newAccountId, welcome }: Redemption,
    now: Date,
  ): Promise<Result<AccountId, LinkExpired>> {
    return this.database.transaction(async (sql) => {
      const email = await this.takeLinks(sql, tokenSha256, now);
      if (email === undefined) return err({ kind: "link_expired" });
      const [account] = await sql(
        `insert into account (id, email, password_hash, credits, active_tasks, created_at) values (?, ?, ?, ?, 0, ?)
        on conflict (email) do update set password_hash = excluded.password_hash returning id`,
        [newAccountId, email, passwordHash, welcome?.credits ?? 0, now],
      );
      if (account === undefined) throw new Error("the database returned no account");
      const id = branded<AccountId>(account, "id");
      if (welcome !== undefined && id === newAccountId) await insert(sql, "ledger_entry", entryRow(welcome));
      await deleteAccess(sql, id, email);
      return ok(id);
    });
  }

  async confirmEmail(
    tokenSha256: string,
    account: AccountId,
    now: Date,
  ): Promise<Result<Email, LinkExpired | EmailTaken>> {
    const attempt = () => this.tryToConfirm(tokenSha256, account, now);
    try {
      return await attempt();
    } catch (error) {
      // PostgreSQL: an account with this address was being opened, and only the second attempt sees it.
      if ((error as { readonly code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      return attempt();
    }
  }

  private tryToConfirm(tokenSha256: string, account: AccountId, now: Date) {
    return this.database.transaction<Email, LinkExpired | EmailTaken>(async (sql) => {
      const email = await this.takeLinks(sql, tokenSha256, now);
      if (email === undefined) return err({ kind: "link_expired" });
      await lockAccount(sql, account);
      const [row = {}] = await sql("select email from account where id = ?", [account]);
      const before = branded<Email>(row, "email");
      const changed = await sql(
        "update account set email = ? where id = ? and not exists (select id from account where email = ?) returning id",
        [email, account, email],
      );
      if (changed.length === 0) return err({ kind: "email_taken", email });
      for (const address of [before, email]) await deleteLinks(sql, account, address);
      return ok(before);
    });
  }

  /** The address of the link, if it is valid, and deletes all links of the address. */
  private async takeLinks(sql: Sql, tokenSha256: string, now: Date): Promise<Email | undefined> {
    // Locked in one order: two people with two links would wait for each other otherwise.
    const links = await sql(
      `delete from password_link where token_sha256 in (
        select token_sha256 from password_link
        where email = (select email from password_link where token_sha256 = ? and expires_at > ?)
        order by token_sha256 ${this.database.dialect === "postgresql" ? "for update" : ""}
      ) returning token_sha256, email`,
      [tokenSha256, now],
    );
    const link = links.find((one) => one.token_sha256 === tokenSha256);
    return link && branded<Email>(link, "email");
  }
}
