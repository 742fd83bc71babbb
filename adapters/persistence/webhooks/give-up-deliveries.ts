import type { EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Entities } from "../database/orm/entities.js";
import { WebhookDeliveryTable } from "../database/schema/schema.js";

/** Fails the pending deliveries of an endpoint to which nothing is sent any more. */
export const giveUpDeliveries = async (entities: Entities, endpointId: EndpointId, now: Date): Promise<void> => {
  const failed = { state: "failed", dueAt: null, endedAt: now, detail: "the endpoint is switched off" };
  await entities.nativeUpdate(WebhookDeliveryTable, { endpointId, dueAt: { $ne: null } }, failed);
};
