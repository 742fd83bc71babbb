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

/** Returns `undefined` if no pack has this number of credits. */
export const packOf = (amount: number, packs: CreditPacks): CreditPack | undefined =>
  packs.find(({ credits }) => credits === amount);
