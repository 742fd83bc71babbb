import { type Credits, credits } from "./credits.js";

/** A number of credits and its price, as sold on the account page. */
export type CreditPack = { readonly credits: Credits; readonly priceUsdCents: number };

/** Smallest first. A credit is cheaper in a larger pack. */
export const CREDIT_PACKS: readonly [CreditPack, ...CreditPack[]] = [
  { credits: credits(100), priceUsdCents: 900 },
  { credits: credits(500), priceUsdCents: 3900 },
  { credits: credits(2000), priceUsdCents: 12900 },
];

/** Returns `undefined` if no pack has this number of credits. */
export const packOf = (amount: number): CreditPack | undefined =>
  CREDIT_PACKS.find(({ credits }) => credits === amount);
