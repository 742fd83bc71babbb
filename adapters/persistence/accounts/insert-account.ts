import type { Account } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import { branded } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";

/** Sets the password of an open account. */
export const SET_PASSWORD = "do update set password_hash = excluded.password_hash where account.closed_at is null";

type NewAccount = Account & { readonly passwordHash: string | undefined; readonly credits: number };

/**
 * Returns the id of the account with this e-mail address. `taken`: what happens to one that is there already, also if
 * it is just being opened; `undefined` if it is nothing, or the account is closed.
 */
export async function insertAccount(
  sql: Sql,
  { id, email, passwordHash, credits, createdAt }: NewAccount,
  taken: "do nothing" | typeof SET_PASSWORD,
): Promise<AccountId | undefined> {
  const [row] = await sql(
    `insert into account (id, email, password_hash, credits, active_tasks, created_at) values (?, ?, ?, ?, 0, ?)
    on conflict (email) ${taken} returning id`,
    [id, email, passwordHash ?? null, credits, createdAt],
  );
  return row && branded<AccountId>(row, "id");
}
