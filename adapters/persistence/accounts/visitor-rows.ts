import type { AccountId } from "../../../domain/ids.js";
import type { Database, Row } from "../database/sql/database.js";

/* What each page and each form reads of its visitor. */

export const sessionRow = async ({ sql }: Pick<Database, "sql">, tokenSha256: string): Promise<Row | undefined> => {
  const [row] = await sql(
    "select token_sha256, account_id, created_at, expires_at from session where token_sha256 = ?",
    [tokenSha256],
  );
  return row;
};

export const accountRow = async ({ sql }: Pick<Database, "sql">, id: AccountId): Promise<Row | undefined> => {
  const [row] = await sql("select id, email, created_at, suspended_at, suspension_reason from account where id = ?", [
    id,
  ]);
  return row;
};
