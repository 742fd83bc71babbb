import type { ClaimedLetter, LetterOutbox, PostedLetter } from "../../../application/ports/stores/letter-outbox.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import { branded, integer, oneOf, optional, type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { insert } from "../sql/insert.js";

const KINDS = [
  "new_password",
  "sign_up",
  "already_registered",
  "confirm_email",
  "password_changed",
  "email_changed",
  "email_in_use",
  "account_deleted",
  "invitation",
  "pending_order",
  "none",
] as const satisfies readonly PostedLetter["kind"][];

/** The letters to be sent, in SQLite or PostgreSQL. */
export class SqlLetterOutbox implements LetterOutbox {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async add({ id, kind, to, accountId }: PostedLetter, dueAt: Date): Promise<void> {
    const row = { id, kind, recipient: to, account_id: accountId ?? null, attempt: 0, due_at: dueAt };
    await insert(this.database.sql, "letter", row);
  }

  async claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedLetter[]> {
    const lock = this.database.dialect === "postgresql" ? "for update skip locked" : "";
    const rows = await this.database.sql(
      `update letter set due_at = ?, attempt = attempt + 1 where id in (
        select id from letter where due_at <= ? order by due_at limit ? ${lock}
      ) returning *`,
      [leasedUntil, now, limit],
    );
    return rows.map(toLetter);
  }

  async remove({ id, attempt }: ClaimedLetter): Promise<void> {
    await this.database.sql("delete from letter where id = ? and attempt = ?", [id, attempt]);
  }

  async retry({ id, attempt }: ClaimedLetter, dueAt: Date): Promise<void> {
    await this.database.sql("update letter set due_at = ? where id = ? and attempt = ?", [dueAt, id, attempt]);
  }
}

const toLetter = (row: Row): ClaimedLetter => {
  const accountId = optional(row, "account_id", branded<AccountId>);
  return {
    id: text(row, "id"),
    kind: oneOf(row, "kind", KINDS),
    to: branded<Email>(row, "recipient"),
    ...(accountId !== undefined && { accountId }),
    attempt: integer(row, "attempt"),
  };
};
