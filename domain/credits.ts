import type { Brand } from "./brand.js";

/** An amount of credits: an integer, zero or more. */
export type Credits = Brand<number, "Credits">;

/** Throws for anything but an integer of zero or more. Input is checked before, so such an amount is a bug. */
export const credits = (amount: number): Credits => {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not a valid amount of credits`);
  return amount as Credits;
};
