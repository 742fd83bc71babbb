import { type AttemptResult, askedPauseMilliseconds } from "./webhook-delivery.js";

/**
 * How the latest webhooks to a lane went. A lane is an endpoint, or for the `webhook_url` of tasks, account and origin.
 *
 *                   ┌──failure──┐
 *                   ▼           │
 *   (new) ──▶ unverified ───────┘
 *                   │ success
 *                   ▼
 *        ┌──▶    steady   ──no answer──▶ doubtful ──┐
 *        │          ▲                       ▲       │ failure
 *        └──status──┘◀───────success────────┴───────┘
 *
 * The first webhook to a new lane is its challenge: it is signed like all others, and nothing else is sent before a
 * receiver has confirmed one with a status from 200 to 299. So a receiver needs no code for it, and a host that never
 * asked for webhooks gets few. In the states `unverified` and `doubtful`, one delivery is tried at a time, after
 * growing pauses. Whatever the state, nothing is sent to a lane for as long as its receiver asks for a pause.
 */
export type Receiver = {
  /** When the first webhook was confirmed. `undefined`: unverified. */
  readonly verifiedAt: Date | undefined;
  /** Failed attempts in a row, while the lane is unverified or doubtful. */
  readonly failures: number;
  /** No attempt is made before. */
  readonly nextAt: Date;
};

const FIRST_PAUSE_MILLISECONDS = 5_000;

/** The longest pause between two attempts at a lane that nobody has confirmed: 1 hour. */
export const UNVERIFIED_PAUSE_MILLISECONDS_MAX = 60 * 60 * 1000;
/** The longest pause between two attempts at a lane that was confirmed once and does not answer now: 1 minute. */
export const DOUBTFUL_PAUSE_MILLISECONDS_MAX = 60 * 1000;
/** The pause after an unconfirmed attempt until any account's next unverified lane with the same origin is tried. */
export const ORIGIN_PAUSE_MILLISECONDS = 5_000;

/** `nextAt` of a steady lane is renewed this often. Without renewal for 30 days, a lane is forgotten: unverified. */
const RENEWAL_MILLISECONDS = 24 * 60 * 60 * 1000;

/** A lane to which nothing was sent. */
export const newReceiver = (now: Date): Receiver => ({ verifiedAt: undefined, failures: 0, nextAt: now });

/** Whether one delivery is tried at a time, until it is confirmed. */
export const isProbed = ({ verifiedAt, failures }: Receiver): boolean => verifiedAt === undefined || failures > 0;

/** After an attempt. Returns `receiver` itself if nothing changes, as nearly always. */
export const receiverAfter = (receiver: Receiver, result: AttemptResult, now: Date): Receiver => {
  if (result.kind === "delivered") {
    const isCurrent = !isProbed(receiver) && now.getTime() - receiver.nextAt.getTime() < RENEWAL_MILLISECONDS;
    return isCurrent ? receiver : { verifiedAt: receiver.verifiedAt ?? now, failures: 0, nextAt: now };
  }
  const asked = askedPauseMilliseconds(result);
  const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  if (!isProbed(receiver) && result.isUnanswered !== true) {
    return asked === 0 ? receiver : { ...receiver, nextAt: after(asked) }; // it works, but refuses this webhook
  }
  const failures = receiver.failures + 1;
  const longest =
    receiver.verifiedAt === undefined ? UNVERIFIED_PAUSE_MILLISECONDS_MAX : DOUBTFUL_PAUSE_MILLISECONDS_MAX;
  const pause = Math.min(longest, FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 1));
  return { ...receiver, failures, nextAt: after(Math.max(pause, asked)) };
};

/** When the next unverified lane with the same origin may be tried, after an attempt at an unverified lane. */
export const originFreeAt = (result: AttemptResult, now: Date): Date =>
  result.kind === "delivered" ? now : new Date(now.getTime() + ORIGIN_PAUSE_MILLISECONDS);
