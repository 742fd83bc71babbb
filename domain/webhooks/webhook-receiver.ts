import { type AttemptResult, askedPauseMilliseconds } from "./webhook-delivery.js";

/**
 * State of the webhooks to a lane. A lane is an endpoint, or for the `webhook_url` of tasks, account and origin.
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
 * `unverified` and `doubtful`: one delivery at a time, after growing pauses. The first 2xx answer verifies a lane. So
 * receivers need no code for it, and a host that never asked for webhooks gets few. In every state, a pause that the
 * receiver asks for delays the lane.
 */
export type Receiver = {
  /** Time of the first confirmed webhook. `undefined`: unverified. */
  readonly verifiedAt: Date | undefined;
  /** Failed attempts in a row, while the lane is unverified or doubtful. */
  readonly failures: number;
  /** Earliest time of the next attempt. */
  readonly nextAt: Date;
};

const FIRST_PAUSE_MILLISECONDS = 5_000;

/** Maximum pause between two attempts at an unverified lane. */
export const UNVERIFIED_PAUSE_MILLISECONDS_MAX = 60 * 60 * 1000;
/** Maximum pause between two attempts at a doubtful lane. */
export const DOUBTFUL_PAUSE_MILLISECONDS_MAX = 60 * 1000;
/** Pause after an unconfirmed attempt, for all unverified lanes with the same origin. */
export const ORIGIN_PAUSE_MILLISECONDS = 5_000;

/**
 * Interval at which `nextAt` of a steady lane is renewed. A lane without renewal for 30 days is deleted, so it is
 * unverified.
 */
const RENEWAL_MILLISECONDS = 24 * 60 * 60 * 1000;

/** A lane to which nothing was sent. */
export const newReceiver = (now: Date): Receiver => ({ verifiedAt: undefined, failures: 0, nextAt: now });

/** True if the lane gets one delivery at a time, until one is confirmed. */
export const isProbed = ({ verifiedAt, failures }: Receiver): boolean => verifiedAt === undefined || failures > 0;

/** The state after an attempt. Returns `receiver` itself if nothing changes, as nearly always. */
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

/** Earliest time for another unverified lane with the same origin, after an attempt at an unverified lane. */
export const originFreeAt = (result: AttemptResult, now: Date): Date =>
  result.kind === "delivered" ? now : new Date(now.getTime() + ORIGIN_PAUSE_MILLISECONDS);
