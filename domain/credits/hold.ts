import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../ids.js";
import { CREDITS_MAX, type Credits, credits } from "./credits.js";
import type { IdempotentRequest } from "./idempotency.js";
import { refundEntry } from "./ledger.js";
import type { EntryNotes, MeterEntry } from "./meter-entry.js";
import {
  type CapturedReservation,
  capture,
  type HeldReservation,
  type RefundedReservation,
  refund,
} from "./reservation.js";

/**
 * A reservation that expires, for a task of an embedder's program, whose process may die: from `expiresAt` on, an open
 * hold counts as refunded.
 *
 *   held ──capture──▶ captured: a part may be captured; the rest returns. Captured credits may be refunded later.
 *     └────refund───▶ refunded
 */
export type Hold = OpenHold | CapturedHold | RefundedHold;

type HoldCore = EntryNotes & {
  readonly heldAt: Date;
  readonly expiresAt: Date;
  /**
   * Idempotency key and request of the hold. Kept after a refund: a repeated call returns `refunded`, and a new attempt
   * needs a new key.
   */
  readonly idempotent: IdempotentRequest | undefined;
};

/** A hold that can still be captured, refunded or renewed. */
export type OpenHold = HoldCore & { readonly reservation: HeldReservation };
/** A hold whose credits, or a part of them, are spent. */
export type CapturedHold = HoldCore & {
  readonly reservation: CapturedReservation;
  /** At most the credits of the reservation. */
  readonly captured: Credits;
  /** Credits refunded after the capture: at most `captured`. */
  readonly refunded: Credits;
};
/** A hold whose credits all returned to the account. */
export type RefundedHold = HoldCore & { readonly reservation: RefundedReservation };

/** The credits of an account, and all its holds that are `held`. */
export type MeterFunds = {
  /** Available credits: neither reserved nor spent. Negative if the account is in debt (`adjust` of a meter). */
  readonly credits: number;
  readonly open: readonly OpenHold[];
};

/** The account after the refund of all holds that expire by `now`. `entries`: these refunds, oldest first. */
export type Expiry = MeterFunds & {
  readonly refunded: readonly RefundedHold[];
  readonly entries: readonly MeterEntry[];
};

/** Refunds expired holds. A refund is dated at the expiry, so the result does not depend on the time of the call. */
export const expireHolds = ({ credits: before, open }: MeterFunds, now: Date): Expiry => {
  const hasEnded = ({ expiresAt }: OpenHold): boolean => expiresAt.getTime() <= now.getTime();
  const ended = open.filter(hasEnded).sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const ends = ended.map((hold) => refundHold(hold, hold.expiresAt));
  return {
    credits: before + ended.reduce((sum, { reservation }) => sum + reservation.credits, 0),
    open: open.filter((hold) => !hasEnded(hold)),
    refunded: ends.map(({ hold }) => hold),
    entries: ends.flatMap(({ entries }) => entries),
  };
};

/** Refunds all credits of a failed task. */
export const refundHold = (
  { reservation, ...core }: OpenHold,
  at: Date,
): { readonly hold: RefundedHold; readonly entries: readonly MeterEntry[] } => {
  const refunded = refund(reservation);
  return { hold: { ...core, reservation: refunded }, entries: [refundEntry(refunded, at)] };
};

/** Spends `amount` of the credits of a task that succeeded; the rest returns. Throws if that is more than is held. */
export const captureHold = (
  { reservation, ...core }: OpenHold,
  amount: Credits,
  at: Date,
): { readonly hold: CapturedHold; readonly entries: readonly MeterEntry[] } => {
  const { taskId, accountId, credits: held } = reservation;
  if (amount > held) throw new RangeError(`Task ${taskId} holds ${held} credits: ${amount} cannot be captured.`);
  const hold = { ...core, reservation: capture(reservation), captured: amount, refunded: credits(0) };
  const rest = { kind: "refund", accountId, taskId, credits: held - amount, at } as const;
  return { hold, entries: amount === held ? [] : [rest] };
};

/** Net cost of a hold: captured credits less later refunds. */
export const netCostOf = (hold: Hold): Credits =>
  "captured" in hold ? credits(hold.captured - hold.refunded) : credits(0);

/** The refund exceeds `refundable`: captured credits less earlier refunds. 0: nothing is left to refund. */
export type RefundTooHigh = { readonly kind: "refund_too_high"; readonly refundable: Credits };

/** Refunds captured credits of a finished task. `amount`: all that is left, if undefined. */
export const refundCaptured = (
  hold: CapturedHold,
  amount: Credits = netCostOf(hold),
): Result<{ readonly hold: CapturedHold; readonly credits: Credits }, RefundTooHigh> => {
  const refundable = netCostOf(hold);
  return refundable > 0 && amount <= refundable
    ? ok({ hold: { ...hold, refunded: credits(hold.refunded + amount) }, credits: amount })
    : err({ kind: "refund_too_high", refundable });
};

/** Standing of a meter's account. Its open holds count as active tasks. */
export const standingOf = (accountId: AccountId, { credits: balance, open }: MeterFunds) => ({
  accountId,
  credits: credits(Math.max(0, balance)),
  activeTasks: open.length,
});

/**
 * The balance of a meter's account after `change`, which may be negative. Throws a `RangeError` outside 32 bits. Held
 * credits count, because a refund may return them.
 */
export const balanceAfter = ({ credits: before, open }: MeterFunds, change: number): number => {
  const held = open.reduce((sum, { reservation }) => sum + reservation.credits, 0);
  const after = before + change;
  if (Math.abs(change) <= CREDITS_MAX && after >= -CREDITS_MAX && after + held <= CREDITS_MAX) {
    return after;
  }
  throw new RangeError(
    `${before} credits, beside ${held} that are held, cannot change by ${change}: the most is ${CREDITS_MAX}, also of a debt.`,
  );
};
