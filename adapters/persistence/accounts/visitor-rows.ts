import type { AccountId } from "../../../domain/ids.js";
import type { Database, Row } from "../database/sql/database.js";

/*
 * What each page and each form reads of its visitor. The columns have the names of the entities' properties, for the
 * functions that read both.
 */

export const sessionRow = async ({ sql }: Pick<Database, "sql">, tokenSha256: string): Promise<Row | undefined> => {
  const [row] = await sql(
    `select token_sha256 as "tokenSha256", account_id as "accountId", created_at as "createdAt",
      expires_at as "expiresAt" from session where token_sha256 = ?`,
    [tokenSha256],
  );
  return row;
};

export const accountRow = async ({ sql }: Pick<Database, "sql">, id: AccountId): Promise<Row | undefined> => {
  const [row] = await sql(
    `select id, email, created_at as "createdAt", suspended_at as "suspendedAt",
      suspension_reason as "suspensionReason" from account where id = ?`,
    [id],
  );
  return row;
};
