import type { Brand } from "../ids.js";

/** An amount of credits: an integer, zero or more. */
export type Credits = Brand<number, "Credits">;

/**
 * The credits of an account. Without its debt, their sum is what it has bought, less what was refunded, and what the
 * operator has given or taken. `remaining`: the balance, neither reserved nor spent. `reserved`: held by tasks that
 * are `processing`. `spent`: on tasks that have succeeded. Refunded credits are `remaining` again.
 */
export type CreditTotals = {
  readonly remaining: Credits;
  readonly reserved: Credits;
  readonly spent: Credits;
  /** What the next purchase pays first (ledger.ts). Absent: nothing. */
  readonly debt?: Credits | undefined;
};

/** Throws for anything but an integer of zero or more. Input is checked before, so such an amount is a bug. */
export const credits = (amount: number): Credits => {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not a valid amount of credits`);
  return amount as Credits;
};
