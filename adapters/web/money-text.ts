import { credits } from "../../domain/credits/credits.js";
import { type CreditPack, type CreditPacks, priceAtMost } from "../../domain/credits/order.js";

/** An amount as people read it, such as "US$9.00". */
export const moneyText = ({ priceCents, currency }: Pick<CreditPack, "priceCents" | "currency">): string =>
  new Intl.NumberFormat("en-GB", { style: "currency", currency }).format(priceCents / 100);

/** What so many credits cost, such as "at most US$0.54"; `undefined` while the operator has set no prices. */
export const atMostText = (amount: number, packs: CreditPacks): string | undefined => {
  const price = priceAtMost(credits(amount), packs);
  return price && `at most ${moneyText(price)}`;
};
