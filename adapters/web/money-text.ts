import { type CreditPack, type CreditPacks, priceAtMost } from "../../domain/credits/credit-pack.js";
import { credits } from "../../domain/credits/credits.js";
import { Words, words } from "./html.js";

/** An amount as people read it, such as "US$9.00". */
export const moneyText = ({ priceCents, currency }: Pick<CreditPack, "priceCents" | "currency">): Words =>
  new Words(({ locale }) => new Intl.NumberFormat(locale, { style: "currency", currency }).format(priceCents / 100));

/** What so many credits cost, such as "at most US$0.54"; `undefined` while the operator has set no prices. */
export const atMostText = (amount: number, packs: CreditPacks): Words | undefined => {
  const price = priceAtMost(credits(amount), packs);
  return price && words`at most ${moneyText(price)}`;
};
