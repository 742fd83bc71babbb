import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../ids.js";
import type { AdjustmentReason, AdjustmentReference } from "./adjustment.js";
import { CREDITS_MAX, type Credits, credits } from "./credits.js";
import type { LedgerEntry } from "./ledger.js";
import type { InsufficientCredits } from "./reservation.js";

/** Balance and debt of an account. Debt arises when a payment is refunded after its credits were spent. */
export type Funds = { readonly credits: Credits; readonly debt: Credits };

/** Result of a booking: the new funds, and the entries to write in one transaction. */
export type Booking = { readonly funds: Funds; readonly entries: readonly LedgerEntry[] };

/**
 * Books an entry. What the balance cannot cover becomes debt; added credits pay debt first. A change of debt gets its
 * own `debt` entry: the balance is the sum of all entries, the debt the sum of the `debt` entries. New debt comes
 * first, so the sum never goes below 0. Throws a `RangeError` if the balance or the debt would exceed 2^31 - 1.
 */
export const book = (funds: Funds, entry: LedgerEntry): Booking => {
  const sum = funds.credits + entry.credits;
  const debtChange = -Math.min(sum, funds.debt);
  const { accountId, at } = entry;
  if (Math.max(sum + debtChange, funds.debt + debtChange) > CREDITS_MAX) {
    throw new RangeError(
      `Account ${accountId} has ${funds.credits} credits, which cannot change by ${entry.credits}: the most is ${CREDITS_MAX}, also of a debt.`,
    );
  }
  const debt: LedgerEntry = { kind: "debt", accountId, credits: debtChange, at };
  return {
    funds: { credits: credits(sum + debtChange), debt: credits(funds.debt + debtChange) },
    entries: debtChange > 0 ? [debt, entry] : debtChange < 0 ? [entry, debt] : [entry],
  };
};

/**
 * Adds `change`, which may be negative, to the balance. Refuses to take more than the balance. Added credits pay debt
 * first.
 */
export const adjust = ({
  accountId,
  funds,
  change,
  reason,
  reference,
  at,
}: {
  readonly accountId: AccountId;
  readonly funds: Funds;
  readonly change: number;
  readonly reason: AdjustmentReason;
  readonly reference?: AdjustmentReference | undefined;
  readonly at: Date;
}): Result<Booking, InsufficientCredits> =>
  funds.credits + change >= 0
    ? ok(book(funds, { kind: "adjustment", accountId, reason, reference, credits: change, at }))
    : err({ kind: "insufficient_credits", balance: funds.credits, cost: credits(-change) });
