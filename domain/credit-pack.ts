import { type Credits, credits } from "./credits.js";

/** What is sold on the account page: so many credits for so much money. */
export type CreditPack = { readonly credits: Credits; readonly priceUsdCents: number };

/** Smallest first; the larger, the cheaper each credit. */
export const CREDIT_PACKS: readonly [CreditPack, ...CreditPack[]] = [
  { credits: credits(100), priceUsdCents: 900 },
  { credits: credits(500), priceUsdCents: 3900 },
  { credits: credits(2000), priceUsdCents: 12900 },
];

/** The pack of so many credits, if one is sold. */
export const packOf = (amount: number): CreditPack | undefined =>
  CREDIT_PACKS.find(({ credits }) => credits === amount);
