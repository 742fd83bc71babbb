import type { Endpoint } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Database } from "../database/sql/database.js";
import { toEndpoint } from "./webhook-rows.js";

/** `EndpointStore.ensureDefault`. Waits for no lock of the account but that of a closing. */
export const writeDefaultEndpoint = async (
  { sql, dialect }: Pick<Database, "sql" | "dialect">,
  candidate: Endpoint,
): Promise<Endpoint> => {
  const { id, accountId, secret, createdAt } = candidate;
  const find = "select * from webhook_endpoint where account_id = ? and url is null";
  const [known] = await sql(find, [accountId]);
  if (known !== undefined) return toEndpoint(known);
  // PostgreSQL: a closing changes the address, which is a key, so that this waits for it and sees it.
  await sql(
    `insert into webhook_endpoint (id, account_id, secret, created_at)
    select ?, id, ?, cast(? as timestamptz) from account where id = ? and closed_at is null
    ${dialect === "postgresql" ? "for key share" : ""}
    on conflict (account_id) where url is null do nothing`,
    [id, secret, createdAt, accountId],
  );
  const [present] = await sql(find, [accountId]);
  return present === undefined ? candidate : toEndpoint(present);
};
