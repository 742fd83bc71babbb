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
  /** Attempts since the event, or since it was sent again. */
  readonly attempts: number;
  readonly firstAttemptAt: Date | undefined;
  /** What the last attempt resulted in, such as `status 500`. */
  readonly detail: string | undefined;
};
/** Is sent at `dueAt`, for the first time or again. */
export type PendingDelivery = DeliveryCore & { readonly state: "pending"; readonly dueAt: Date };
/** The receiver has confirmed it. */
export type DeliveredDelivery = DeliveryCore & { readonly state: "delivered"; readonly endedAt: Date };
/** Is not sent again. */
export type FailedDelivery = DeliveryCore & { readonly state: "failed"; readonly endedAt: Date };

/** All states of deliveries. */
export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const satisfies readonly Delivery["state"][];

/**
 * The result of one attempt. `isGone`: the endpoint wants no more webhooks (status 410). `isUnanswered`: there was no
 * status, for example because of a time-out. `retryAfterMilliseconds`: how long the receiver asks for a pause
 * (`Retry-After` of 429 and 503). The account sees `detail`; `cause` is for the operator's log only, because
 * it may tell what an internal name resolves to.
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

/** How long a delivery is tried, and how long every attempt at an endpoint must fail until it is switched off. */
export const DELIVERY_MILLISECONDS = 3 * 24 * 60 * 60 * 1000;

const FIRST_PAUSE_MILLISECONDS = 5_000;
/** The longest pause between two attempts. */
export const DELIVERY_PAUSE_MILLISECONDS_MAX = 6 * 60 * 60 * 1000;

/** Milliseconds until the next attempt: 5 s, 10 s, 20 s … at most 6 hours. */
const pauseAfter = (attempts: number): number =>
  Math.min(DELIVERY_PAUSE_MILLISECONDS_MAX, FIRST_PAUSE_MILLISECONDS * 2 ** (attempts - 1));

/** For how long a receiver asks for a pause, as far as it is heard; 0 if it does not ask. */
export const askedPauseMilliseconds = (result: AttemptResult): number =>
  result.kind === "failed" ? Math.min(DELIVERY_PAUSE_MILLISECONDS_MAX, result.retryAfterMilliseconds ?? 0) : 0;

/** A new delivery, or one that is sent again. */
export const pendingAt = (dueAt: Date): PendingDelivery => ({
  state: "pending",
  attempts: 0,
  firstAttemptAt: undefined,
  detail: undefined,
  dueAt,
});

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

/** The endpoint is switched off or deleted: no more attempts. */
export const giveUpDelivery = (
  { attempts, firstAttemptAt }: PendingDelivery,
  detail: string,
  now: Date,
): FailedDelivery => ({ state: "failed", attempts, firstAttemptAt, detail, endedAt: now });

/**
 * Why an attempt switches its endpoint off, if it does. The default endpoint, which stands for the URLs of single
 * tasks, is never switched off.
 */
export const switchesOff = (
  { url, failingSince }: Pick<Endpoint, "url" | "failingSince">,
  result: AttemptResult,
  now: Date,
): OffReason | undefined => {
  if (url === undefined || result.kind === "delivered") return undefined;
  if (result.isGone) return "gone";
  const failingFor = failingSince === undefined ? 0 : now.getTime() - failingSince.getTime();
  return failingFor >= DELIVERY_MILLISECONDS ? "failing" : undefined;
};
