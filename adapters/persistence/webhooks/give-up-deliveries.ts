import type { EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Sql } from "../database/sql/database.js";

/** Fails the pending deliveries of an endpoint to which nothing is sent any more. */
export async function giveUpDeliveries(sql: Sql, endpointId: EndpointId, now: Date): Promise<void> {
  await sql(
    `update webhook_delivery set state = 'failed', due_at = null, ended_at = ?, detail = 'the endpoint is switched off'
    where endpoint_id = ? and due_at is not null`,
    [now, endpointId],
  );
}
