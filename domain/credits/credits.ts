import type { Brand } from "../ids.js";

/** An amount of credits: an integer, zero or more. */
export type Credits = Brand<number, "Credits">;

/** Maximum of a balance and of a debt: stores have columns of 32 bits. */
export const CREDITS_MAX = 2_147_483_647;

/**
 * Totals of an account. `remaining`: the balance, neither reserved nor spent. `reserved`: held by tasks that are
 * `processing`. `spent`: on tasks that have succeeded. Their sum, less the debt, is what was bought, less refunded
 * purchases, and adjusted. Credits of failed tasks are `remaining` again.
 */
export type CreditTotals = {
  readonly remaining: Credits;
  readonly reserved: Credits;
  readonly spent: Credits;
  /** The debt, which new credits pay first (funds.ts). Absent: none. */
  readonly debt?: Credits | undefined;
};

/** Creates an amount. Throws for anything but an integer of zero or more. Input is checked before, so that is a bug. */
export const credits = (amount: number): Credits => {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not a valid amount of credits`);
  return amount as Credits;
};
