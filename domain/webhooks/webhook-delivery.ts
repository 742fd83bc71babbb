import type { Endpoint, OffReason } from "./webhook-endpoint.js";

/**
 * One event on its way to one endpoint.
 *
 *              ┌──success──▶ delivered ──┐
 *   pending ───┤                         ├──resend──▶ pending
 *     │  ▲     └──give up──▶ failed ─────┘
 *     └──┘ failure
 */
export type Delivery = PendingDelivery | DeliveredDelivery | FailedDelivery;

type DeliveryCore = {
  /** Attempts since the event, or since the last resend. */
  readonly attempts: number;
  readonly firstAttemptAt: Date | undefined;
  /** Result of the last attempt, such as `status 500`. */
  readonly detail: string | undefined;
};
/** A delivery that is sent at `dueAt`, for the first time or again. */
export type PendingDelivery = DeliveryCore & { readonly state: "pending"; readonly dueAt: Date };
/** A delivery that the receiver has confirmed. */
export type DeliveredDelivery = DeliveryCore & { readonly state: "delivered"; readonly endedAt: Date };
/** A delivery that is given up. */
export type FailedDelivery = DeliveryCore & { readonly state: "failed"; readonly endedAt: Date };

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const satisfies readonly Delivery["state"][];

/**
 * The result of one attempt. `isGone`: status 410, the endpoint wants no more webhooks. `isUnanswered`: no status, for
 * example after a timeout. `retryAfterMilliseconds`: `Retry-After` of a 429 or 503. `detail`: for the account. `cause`:
 * for the operator's log only, because it may contain internal addresses.
 */
export type AttemptResult =
  | { readonly kind: "delivered"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly detail: string;
      readonly isGone: boolean;
      readonly isUnanswered?: boolean | undefined;
      readonly retryAfterMilliseconds?: number | undefined;
      readonly cause?: string | undefined;
    };

/** Retry period of a delivery, and failing period until an endpoint is switched off. */
export const DELIVERY_MILLISECONDS = 3 * 24 * 60 * 60 * 1000;

const FIRST_PAUSE_MILLISECONDS = 5_000;
/** Maximum pause between two attempts. */
export const DELIVERY_PAUSE_MILLISECONDS_MAX = 6 * 60 * 60 * 1000;

/** Milliseconds until the next attempt: 5 s, 10 s, 20 s … at most 6 hours. */
const pauseAfter = (attempts: number): number =>
  Math.min(DELIVERY_PAUSE_MILLISECONDS_MAX, FIRST_PAUSE_MILLISECONDS * 2 ** (attempts - 1));

/** The pause that a receiver asks for, at most 6 hours; 0 without one. */
export const askedPauseMilliseconds = ({
  retryAfterMilliseconds = 0,
}: Extract<AttemptResult, { kind: "failed" }>): number =>
  Math.min(DELIVERY_PAUSE_MILLISECONDS_MAX, retryAfterMilliseconds);

/** The delivery after an attempt that ended at `now`. The last attempt is three days after the first one. */
export const afterAttempt = (delivery: PendingDelivery, result: AttemptResult, now: Date): Delivery => {
  const { detail } = result;
  const firstAttemptAt = delivery.firstAttemptAt ?? now;
  const core = { attempts: delivery.attempts + 1, firstAttemptAt, detail };
  if (result.kind === "delivered") return { ...core, state: "delivered", endedAt: now };
  const last = firstAttemptAt.getTime() + DELIVERY_MILLISECONDS;
  if (result.isGone || now.getTime() >= last) return { ...core, state: "failed", endedAt: now };
  const pause = Math.max(pauseAfter(core.attempts), askedPauseMilliseconds(result));
  return { ...core, state: "pending", dueAt: new Date(Math.min(now.getTime() + pause, last)) };
};

/** Gives up a delivery whose endpoint is switched off or deleted. */
export const giveUpDelivery = (
  { attempts, firstAttemptAt }: PendingDelivery,
  detail: string,
  now: Date,
): FailedDelivery => ({ state: "failed", attempts, firstAttemptAt, detail, endedAt: now });

/**
 * Reason to switch the endpoint off after an attempt; `undefined`: it stays on. Never for the default endpoint, which
 * stands for the URLs of single tasks.
 */
export const offReasonAfter = (
  { url, failingSince }: Pick<Endpoint, "url" | "failingSince">,
  result: AttemptResult,
  now: Date,
): OffReason | undefined => {
  if (url === undefined || result.kind === "delivered") return undefined;
  if (result.isGone) return "gone";
  const failingFor = failingSince === undefined ? 0 : now.getTime() - failingSince.getTime();
  return failingFor >= DELIVERY_MILLISECONDS ? "failing" : undefined;
};
