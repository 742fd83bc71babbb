import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import { toEndpoint } from "../rows/webhook-rows.js";
import type { Sql } from "../sql/database.js";

/** `EndpointStore.ensureDefault`. Waits for no lock of the account. */
export const ensureDefaultEndpoint = async (
  sql: Sql,
  { id, accountId, secret, createdAt }: Endpoint,
): Promise<Endpoint> => {
  for (;;) {
    const [known] = await sql("select * from webhook_endpoint where account_id = ? and url is null", [accountId]);
    if (known !== undefined) return toEndpoint(known);
    await sql(
      `insert into webhook_endpoint (id, account_id, secret, created_at) values (?, ?, ?, ?)
      on conflict (account_id) where url is null do nothing`,
      [id, accountId, secret, createdAt],
    );
  }
};
