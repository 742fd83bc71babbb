import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import { toEndpoint } from "../rows/webhook-rows.js";
import type { Sql } from "../sql/database.js";

/** `EndpointStore.ensureDefault`. Waits for no lock of the account. */
export const ensureDefaultEndpoint = async (sql: Sql, candidate: Endpoint): Promise<Endpoint> => {
  const { id, accountId, secret, createdAt } = candidate;
  for (;;) {
    const [known] = await sql("select * from webhook_endpoint where account_id = ? and url is null", [accountId]);
    if (known !== undefined) return toEndpoint(known);
    const [open] = await sql("select 1 from account where id = ? and closed_at is null", [accountId]);
    if (open === undefined) return candidate;
    await sql(
      `insert into webhook_endpoint (id, account_id, secret, created_at)
      select ?, id, ?, cast(? as timestamptz) from account where id = ? and closed_at is null
      on conflict (account_id) where url is null do nothing`,
      [id, secret, createdAt, accountId],
    );
  }
};
