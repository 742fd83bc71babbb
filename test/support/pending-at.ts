import type { PendingDelivery } from "../../domain/webhooks/webhook-delivery.js";

/** A new delivery, or one that is sent again. */
export const pendingAt = (dueAt: Date): PendingDelivery => ({
  state: "pending",
  attempts: 0,
  firstAttemptAt: undefined,
  detail: undefined,
  dueAt,
});
