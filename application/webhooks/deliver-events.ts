import { type AccountEvent, eventIdOf } from "../../domain/account-event.js";
import type { Task } from "../../domain/task.js";
import {
  type AttemptResult,
  afterAttempt,
  DELIVERY_MILLISECONDS,
  giveUpDelivery,
  switchesOff,
} from "../../domain/webhook-delivery.js";
import { secretsAt } from "../../domain/webhook-endpoint.js";
import type { WorkLimits } from "../background/work-on-leases.js";
import type { Clock } from "../ports/clock.js";
import type { DeliveryLease, DeliveryStore } from "../ports/delivery-store.js";
import type { Reporter } from "../ports/reporter.js";
import type { WebhookSender } from "../ports/webhook-sender.js";

type Ports = {
  readonly deliveries: Pick<DeliveryStore, "claim" | "record" | "switchOff">;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly reporter: Reporter;
};

type Settings = WorkLimits & {
  /** Writes the body of an event as JSON. The task is the event's, as it is now. */
  readonly bodyOf: (event: AccountEvent, task: Task | undefined) => string;
};

/** Deliveries of one lane per claim. While more than half of them run, no more of this lane are claimed. */
const LANE_LIMIT = 8;

/** How long to wait, while deliveries run, before more may have become due. */
const CLAIM_AGAIN_MILLISECONDS = 1_000;

/**
 * Sends every delivery that is due, until none is left or `stopping` is aborted. Each is leased to one worker at a time.
 * A slow endpoint takes up only its own share, so it does not delay the others. If a claim, or the work on one
 * delivery, throws, the others end, the lease expires, and this rejects at the end. Resolves to the number of attempts.
 */
export const deliverEvents =
  (ports: Ports, settings: Settings) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { deliveries, clock } = ports;
    const { concurrency, leaseMilliseconds } = settings;
    const running = new Set<Promise<void>>();
    const runningIn = new Map<string, number>();
    const errors: unknown[] = [];
    let isTimeToClaim = () => {};
    let endedUntilClaim = 0;
    const begin = (lease: DeliveryLease): void => {
      const { lane } = lease;
      runningIn.set(lane, (runningIn.get(lane) ?? 0) + 1);
      const run = () => attempt(ports, settings, lease);
      const ended = (ports.reporter.trace?.("deliver", lease.task, run) ?? run())
        .catch((error: unknown) => void errors.push(error))
        .finally(() => {
          running.delete(ended);
          const left = (runningIn.get(lane) ?? 1) - 1;
          if (left === 0) runningIn.delete(lane);
          else runningIn.set(lane, left);
          endedUntilClaim -= 1;
          if (endedUntilClaim <= 0 || running.size === 0) isTimeToClaim();
        });
      running.add(ended);
    };

    for (let attempts = 0; ; ) {
      const freed = new Promise<void>((resolve) => {
        isTimeToClaim = resolve;
      });
      const isStopping = stopping?.aborted === true || errors.length > 0;
      const free = isStopping ? 0 : concurrency - running.size;
      const now = clock.now();
      const until = new Date(now.getTime() + leaseMilliseconds);
      const busy = [...runningIn].flatMap(([lane, count]) => (count > LANE_LIMIT / 2 ? [lane] : []));
      const claimed = free <= 0 ? Promise.resolve([]) : deliveries.claim(now, until, free, LANE_LIMIT, busy);
      const leases = await claimed.catch((error: unknown) => {
        errors.push(error); // what is being sent is still recorded
        return [];
      });
      endedUntilClaim = leases.length / 2; // not after each one, because a claim costs more than a delivery
      leases.forEach(begin);
      attempts += leases.length;
      if (running.size === 0) {
        if (errors.length > 0) throw errors[0];
        // A lane that was busy when the claim began is free now, and may have more.
        if (isStopping || (free > 0 && busy.length === 0)) return attempts;
        continue;
      }
      const woken = new AbortController();
      await Promise.race([freed, clock.sleep(CLAIM_AGAIN_MILLISECONDS, woken.signal)]);
      woken.abort();
    }
  };

const attempt = async (ports: Ports, { bodyOf }: Settings, lease: DeliveryLease): Promise<void> => {
  const { deliveries, sender, clock, reporter } = ports;
  const { delivery, event, endpoint, url } = lease;
  const eventId = eventIdOf(event);
  if (endpoint.off !== undefined) {
    const detail = "the endpoint is switched off";
    const result: AttemptResult = { kind: "failed", detail, isGone: false };
    return deliveries.record(lease, giveUpDelivery(delivery, detail, clock.now()), result, clock.now());
  }
  const at = clock.now();
  const body = bodyOf(event, lease.task);
  const result = await sender.send({
    url,
    id: eventId,
    body,
    secrets: secretsAt(endpoint, at),
    at,
    traceparent: lease.task?.traceparent,
  });
  const now = clock.now();
  const next = afterAttempt(delivery, result, now);
  await deliveries.record(lease, next, result, now);
  reporter.report({
    kind: "webhook_attempt",
    endpointId: endpoint.id,
    eventId,
    state: next.state,
    attempt: next.attempts,
    detail: result.detail,
  });
  const reason = switchesOff(endpoint, result, now);
  if (reason === undefined) return;
  const failingSince = new Date(now.getTime() - DELIVERY_MILLISECONDS);
  if (await deliveries.switchOff(endpoint, reason, now, failingSince)) {
    reporter.report({ kind: "webhook_endpoint_off", endpointId: endpoint.id, accountId: endpoint.accountId, reason });
  }
};
