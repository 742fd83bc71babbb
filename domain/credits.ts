import type { Brand } from "./brand.js";

/** An amount of credits: an integer, zero or more. */
export type Credits = Brand<number, "Credits">;

/** Throws on anything but an integer of zero or more: such an amount is a bug, never an input. */
export const credits = (amount: number): Credits => {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is no amount of credits`);
  return amount as Credits;
};
