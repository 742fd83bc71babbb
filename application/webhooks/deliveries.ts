import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { EVENT_RETENTION_MILLISECONDS } from "../../domain/tasks/account-event.js";
import { DELIVERY_PAUSE_MILLISECONDS_MAX } from "../../domain/webhooks/webhook-delivery.js";
import { type NotFound, notFound } from "../errors.js";
import { pageOf } from "../page-of.js";
import { CLOCK_TOLERANCE_MILLISECONDS, type Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { DeliveryId, DeliveryStore, EndpointOff, ListedDelivery } from "../ports/stores/webhook-stores.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next: DeliveryId | undefined };

type ListDeliveriesPorts = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly deliveries: Pick<DeliveryStore, "list">;
};

/** The account's deliveries of the last 30 days, newest first, `limit` at a time. */
export const listDeliveries =
  ({ accounts, deliveries }: ListDeliveriesPorts) =>
  async (account: AccountId, limit: number, before?: DeliveryId): Promise<Result<DeliveryPage, NotFound>> => {
    if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const { items, last } = pageOf(await deliveries.list(account, limit + 1, before), limit);
    return ok({ deliveries: items, next: last?.id });
  };

type ResendDeliveryPorts = { readonly deliveries: Pick<DeliveryStore, "resend">; readonly clock: Pick<Clock, "now"> };

/** Sends an event again, with the same `webhook-id`. Refused while the endpoint is switched off. */
export const resendDelivery =
  ({ deliveries, clock }: ResendDeliveryPorts) =>
  (id: DeliveryId, account: AccountId): Promise<Result<void, NotFound | EndpointOff>> =>
    deliveries.resend(id, account, clock.now());

const EVENTS_PER_STATEMENT = 1_000;

type DeleteOldEventsPorts = {
  readonly deliveries: Pick<DeliveryStore, "bringForward" | "deleteEvents">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * Deletes events that are older than 30 days, with their deliveries, and corrects due times that were written before
 * the clock was set back. Resolves to the number of deleted events.
 */
export const deleteOldEvents =
  ({ deliveries, clock }: DeleteOldEventsPorts) =>
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
