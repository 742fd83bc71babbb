import type { CreditPack } from "../../domain/credits/credit-pack.js";

/** An amount as people read it, such as "US$9.00". */
export const moneyText = ({ priceCents, currency }: Pick<CreditPack, "priceCents" | "currency">): string =>
  new Intl.NumberFormat("en-GB", { style: "currency", currency }).format(priceCents / 100);
