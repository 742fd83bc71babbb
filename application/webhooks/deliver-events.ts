import { type AccountEvent, eventIdOf } from "../../domain/tasks/account-event.js";
import type { Task } from "../../domain/tasks/task.js";
import { type DueDelivery, LANE_SLOTS, shareSlots } from "../../domain/webhooks/share-slots.js";
import {
  afterAttempt,
  DELIVERY_MILLISECONDS,
  giveUpDelivery,
  offReasonAfter,
} from "../../domain/webhooks/webhook-delivery.js";
import { secretsAt } from "../../domain/webhooks/webhook-endpoint.js";
import { originFreeAt, receiverAfter } from "../../domain/webhooks/webhook-receiver.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { DeliveryLease } from "../ports/stores/webhook-stores.js";

/** Ports of sending. */
export type DeliveryPorts = Pick<ApplicationPorts, "deliveries" | "webhookSender" | "clock" | "reporter">;

type DeliverySettings = {
  /** Longer than the maximum time of an attempt. */
  readonly leaseMilliseconds: number;
  /** Maximum number of attempts at once. */
  readonly concurrency: number;
  /** Writes the body of an event as JSON. The task is the event's, as it is now. */
  readonly bodyOf: (event: AccountEvent, task: Task | undefined) => string;
};

/** Maximum candidates of one claim, and of one lane. */
const CLAIM_LIMIT = 1_000;
const CLAIM_LANE_LIMIT = 8;

/** Pause before the next claim while deliveries run. */
const CLAIM_AGAIN_MILLISECONDS = 1_000;

/** Background work that sends events to endpoints. */
export function eventDelivery(ports: DeliveryPorts, settings: DeliverySettings) {
  const { clock } = ports;
  let claimNow = () => {};
  return {
    /**
     * Sends every delivery that is due, until none is left or `stopping` is aborted. Each is leased to one worker at a
     * time. Accounts and endpoints share the slots (domain/webhooks/share-slots.ts), so slow ones do not delay the
     * others. If a claim, or the work on one delivery, throws, the others end, the lease expires, and this rejects at
     * the end. Resolves to the number of attempts.
     */
    async deliver(stopping?: AbortSignal): Promise<number> {
      const running = new Map<Promise<void>, DueDelivery>();
      const errors: unknown[] = [];
      let ended = 0;
      let claimAt = 0;
      const begin = (lease: DeliveryLease): void => {
        const run = () => attempt(ports, settings, lease);
        const end = (ports.reporter.trace?.("deliver", lease.task, run) ?? run())
          .catch((error: unknown) => void errors.push(error))
          .finally(() => {
            running.delete(end);
            ended += 1;
            if (ended >= claimAt) claimNow();
          });
        running.set(end, dueOf(lease));
      };

      for (let attempts = 0; ; ) {
        const freed = new Promise<void>((resolve) => {
          claimNow = resolve;
        });
        const isStopping = stopping?.aborted === true || errors.length > 0;
        const endedBefore = ended;
        const claimed = isStopping ? Promise.resolve([]) : claimShare(ports, settings, [...running.values()]);
        const leases = await claimed.catch((error: unknown) => {
          errors.push(error); // attempts in progress are still recorded
          return [];
        });
        claimAt = ended + leases.length / 2; // not after each one, because a claim costs more than a delivery
        leases.forEach(begin);
        attempts += leases.length;
        if (running.size === 0) {
          if (errors.length > 0) throw errors[0];
          // Deliveries that ended during the claim may have freed slots.
          if (isStopping || ended === endedBefore) return attempts;
          continue;
        }
        const woken = new AbortController();
        await Promise.race([freed, clock.sleep(CLAIM_AGAIN_MILLISECONDS, woken.signal)]);
        woken.abort();
      }
    },

    /** Makes a running `deliver` claim at once. Otherwise a new event waits up to a second. */
    claimNow(): void {
      claimNow();
    },
  };
}

/** Leases deliveries for the slots that `running` leaves. */
async function claimShare(
  { deliveries, clock }: DeliveryPorts,
  { concurrency, leaseMilliseconds }: DeliverySettings,
  running: readonly DueDelivery[],
): Promise<DeliveryLease[]> {
  if (running.length >= concurrency) return [];
  const now = clock.now();
  return deliveries.claim({
    now,
    until: new Date(now.getTime() + leaseMilliseconds),
    limit: CLAIM_LIMIT,
    laneLimit: CLAIM_LANE_LIMIT,
    busyLanes: busyLanes(running),
    choose: (due) => shareSlots(due, running, concurrency),
  });
}

/** Lanes that use more than half of the slots. Small claims would cost more than they gain. */
function busyLanes(running: readonly DueDelivery[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { lane } of running) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  return [...counts].flatMap(([lane, count]) => (count > LANE_SLOTS / 2 ? [lane] : []));
}

function dueOf({ id, endpoint, lane, origin, receiver }: DeliveryLease): DueDelivery {
  return { id, accountId: endpoint.accountId, lane, origin, receiver };
}

/** Gives up a delivery whose endpoint was switched off after its event. */
function giveUp({ deliveries, clock }: DeliveryPorts, lease: DeliveryLease): Promise<void> {
  const detail = "the endpoint is switched off";
  const now = clock.now();
  const delivery = giveUpDelivery(lease.delivery, detail, now);
  const next = { delivery, receiver: { ...lease.receiver, nextAt: now }, originFreeAt: now };
  return deliveries.record(lease, next, { kind: "failed", detail, isGone: false }, now);
}

async function attempt(ports: DeliveryPorts, { bodyOf }: DeliverySettings, lease: DeliveryLease): Promise<void> {
  const { deliveries, webhookSender, clock, reporter } = ports;
  const { delivery, event, endpoint, url } = lease;
  if (endpoint.off !== undefined) return giveUp(ports, lease);
  const eventId = eventIdOf(event);
  const at = clock.now();
  const body = bodyOf(event, lease.task);
  const result = await webhookSender.send({
    url,
    id: eventId,
    body,
    secrets: secretsAt(endpoint, at),
    at,
    traceparent: lease.task?.traceparent,
  });
  const now = clock.now();
  const next = afterAttempt(delivery, result, now);
  const receiver = receiverAfter(lease.receiver, result, now);
  await deliveries.record(lease, { delivery: next, receiver, originFreeAt: originFreeAt(result, now) }, result, now);
  reporter.report({
    kind: "webhook_attempt",
    endpointId: endpoint.id,
    eventId,
    state: next.state,
    attempt: next.attempts,
    detail: result.detail,
    cause: result.kind === "failed" ? result.cause : undefined,
  });
  const reason = offReasonAfter(endpoint, result, now);
  if (reason === undefined) return;
  const failingSince = new Date(now.getTime() - DELIVERY_MILLISECONDS);
  if (await deliveries.switchOff(endpoint, reason, now, failingSince)) {
    reporter.report({ kind: "webhook_endpoint_off", endpointId: endpoint.id, accountId: endpoint.accountId, reason });
  }
}
