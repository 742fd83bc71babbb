import { err, ok, type Result } from "neverthrow";
import type {
  LinkExpired,
  PasswordLinkStore,
  Redemption,
} from "../../../../application/ports/stores/accounts/password-link-store.js";
import type { AccountId } from "../../../../domain/account-id.js";
import type { Email } from "../../../../domain/accounts/account.js";
import type { PasswordLink } from "../../../../domain/accounts/password-link.js";
import { deleteAccess } from "../../rows/delete-access.js";
import { entryRow } from "../../rows/ledger-rows.js";
import { branded } from "../../sql/columns.js";
import type { Database } from "../../sql/database.js";
import { insert } from "../../sql/insert.js";

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
      // All links of the address, locked in one order: two people with two links would wait for each other otherwise.
      const links = await sql(
        `delete from password_link where token_sha256 in (
          select token_sha256 from password_link
          where email = (select email from password_link where token_sha256 = ? and expires_at > ?)
          order by token_sha256 ${this.database.dialect === "postgresql" ? "for update" : ""}
        ) returning token_sha256, email`,
        [tokenSha256, now],
      );
      const link = links.find((one) => one.token_sha256 === tokenSha256);
      if (link === undefined) return err({ kind: "link_expired" });
      const email = branded<Email>(link, "email");
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
}
