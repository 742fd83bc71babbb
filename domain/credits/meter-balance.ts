import type { Holdings } from "./hold.js";

/** Stores have columns of 32 bits. */
const CREDITS_MAX = 2_147_483_647;

/**
 * The balance of a meter's account after credits were given, or taken if `change` is negative. Throws a `RangeError` if
 * no store could keep it. What is held counts, because it may return.
 */
export const balanceAfter = ({ credits: before, open }: Holdings, change: number): number => {
  const held = open.reduce((sum, { reservation }) => sum + reservation.credits, 0);
  const after = before + change;
  if (Math.abs(change) <= CREDITS_MAX && after >= -CREDITS_MAX && after + held <= CREDITS_MAX) {
    return after;
  }
  throw new RangeError(
    `${before} credits, beside ${held} that are held, cannot change by ${change}: the most is ${CREDITS_MAX}, also of a debt.`,
  );
};
