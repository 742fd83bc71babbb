import { EVENT_RETENTION_MILLISECONDS } from "../../domain/tasks/account-event.js";
import { DELIVERY_PAUSE_MILLISECONDS_MAX } from "../../domain/webhooks/webhook-delivery.js";
import { CLOCK_TOLERANCE_MILLISECONDS, type Clock } from "../ports/clock.js";
import type { DeliveryStore } from "../ports/stores/delivery-store.js";

const EVENTS_PER_STATEMENT = 1_000;

type Ports = {
  readonly deliveries: Pick<DeliveryStore, "bringForward" | "deleteEvents">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * Deletes events that are older than 30 days, with their deliveries, and corrects due times that a clock has written
 * before it was set back. Resolves to the number of deleted events.
 */
export const deleteOldEvents =
  ({ deliveries, clock }: Ports) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const now = clock.now();
    const latest = now.getTime() + DELIVERY_PAUSE_MILLISECONDS_MAX + CLOCK_TOLERANCE_MILLISECONDS;
    await deliveries.bringForward(new Date(latest), now);
    const before = new Date(now.getTime() - EVENT_RETENTION_MILLISECONDS);
    for (let all = 0; ; ) {
      const deleted = await deliveries.deleteEvents(before, EVENTS_PER_STATEMENT);
      all += deleted;
      if (deleted < EVENTS_PER_STATEMENT || stopping?.aborted === true) return all;
    }
  };
