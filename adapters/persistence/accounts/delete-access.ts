import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Sql } from "../database/sql/database.js";

/**
 * Ends all sessions of an account, and deletes the links that set its password, and e-mails that would have one or
 * confirm a new address of it. The account's row must be locked.
 */
export async function deleteAccess(sql: Sql, id: AccountId, email: Email): Promise<void> {
  await sql("delete from session where account_id = ?", [id]);
  await deleteLinks(sql, id, email);
}

/** Deletes the links and e-mails of `deleteAccess`. */
export async function deleteLinks(sql: Sql, id: AccountId, email: Email): Promise<void> {
  await sql("delete from password_link where email = ?", [email]);
  await sql("delete from outgoing_email where recipient = ? or account_id = ?", [email, id]);
}
