import { type Credits, credits } from "./credits.js";

/**
 * A number of credits and its price, as sold on the account page. `currency`: the code of ISO 4217 of a currency with
 * hundredths, in which `priceCents` is.
 */
export type CreditPack = { readonly credits: Credits; readonly priceCents: number; readonly currency: string };

/** At least one, and no two with the same number of credits. */
export type CreditPacks = readonly [CreditPack, ...CreditPack[]];

/** Smallest first. A credit is cheaper in a larger pack. */
export const CREDIT_PACKS: CreditPacks = [
  { credits: credits(100), priceCents: 900, currency: "USD" },
  { credits: credits(500), priceCents: 3900, currency: "USD" },
  { credits: credits(2000), priceCents: 12900, currency: "USD" },
];

/**
 * The most that so many credits can have cost: at the pack with the highest price per credit, rounded up to a whole
 * cent. `undefined` for the packs of this project: only an operator sets real prices.
 */
export const priceAtMost = (
  amount: Credits,
  packs: CreditPacks,
): Pick<CreditPack, "priceCents" | "currency"> | undefined => {
  if (packs === CREDIT_PACKS) return undefined;
  // The exact quotient of two integers: a product that is rounded first could cost a cent more.
  const cents = packs.map((pack) => Math.ceil((amount * pack.priceCents) / pack.credits));
  return { priceCents: Math.max(...cents), currency: packs[0].currency };
};

/** Returns `undefined` if no pack has this number of credits. */
export const packOf = (amount: number, packs: CreditPacks): CreditPack | undefined =>
  packs.find(({ credits }) => credits === amount);
