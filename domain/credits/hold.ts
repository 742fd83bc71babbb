import type { AccountId } from "../account-id.js";
import type { Credits } from "./credits.js";
import type { IdempotentRequest } from "./idempotency.js";
import { type LedgerEntry, refundEntry } from "./ledger.js";
import { type HeldReservation, type Reservation, refund } from "./reservation.js";
import { release } from "./reserve.js";
import type { Standing } from "./standing.js";

/**
 * A reservation with a lease, for a task that only the program that works on it knows. The process that works on it may
 * die: from `expiresAt` on, a hold that was neither captured nor refunded counts as refunded.
 */
export type Hold<Of extends Reservation = Reservation> = {
  readonly reservation: Of;
  readonly heldAt: Date;
  readonly expiresAt: Date;
  /**
   * The request that made it, if that had an idempotency key. Kept after a refund, so that a repeated call sees
   * `refunded` and its caller decides whether to try again, with a new key.
   */
  readonly idempotent: IdempotentRequest | undefined;
};

/** A hold that can still be captured, refunded or renewed. */
export type OpenHold = Hold<HeldReservation>;

/** The credits of an account, and all its holds that are `held`. */
export type Holdings = { readonly credits: Credits; readonly open: readonly OpenHold[] };

/** The account after the end of all leases that end by `now`. `entries` has their refunds, oldest first. */
export type Expiry = {
  readonly standing: Standing;
  readonly open: readonly OpenHold[];
  readonly refunded: readonly Hold[];
  readonly entries: readonly LedgerEntry[];
};

/** A refund is at the time at which the lease ended, so that it makes no difference when somebody looks. */
export const expireHolds = (accountId: AccountId, { credits, open }: Holdings, now: Date): Expiry => {
  const hasEnded = ({ expiresAt }: OpenHold): boolean => expiresAt.getTime() <= now.getTime();
  let standing: Standing = { accountId, credits, activeTasks: open.length };
  const refunded: Hold[] = [];
  const entries: LedgerEntry[] = [];
  for (const hold of open.filter(hasEnded).sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())) {
    const reservation = refund(hold.reservation);
    standing = release(standing, reservation);
    refunded.push({ ...hold, reservation });
    entries.push(refundEntry(reservation, hold.expiresAt));
  }
  return { standing, open: open.filter((hold) => !hasEnded(hold)), refunded, entries };
};
