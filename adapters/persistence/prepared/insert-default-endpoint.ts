import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Sql } from "../sql/database.js";

/** Writes the endpoint of a `webhook_url`, unless the account has one. Waits for no lock of the account. */
export const insertDefaultEndpoint = async (
  sql: Sql,
  { id, accountId, secret, createdAt }: Endpoint,
): Promise<void> => {
  await sql(
    `insert into webhook_endpoint (id, account_id, secret, created_at) values (?, ?, ?, ?)
    on conflict (account_id) where url is null do nothing`,
    [id, accountId, secret, createdAt],
  );
};
