import { credits } from "../../domain/credits/credits.js";
import { type CreditPacks, type OrderPrice, priceAtMost } from "../../domain/credits/order.js";
import { RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";
import { type Html, html } from "./html.js";

/** A number as people read it, such as "4,000". */
export const count = (number: number): string => number.toLocaleString("en-GB");

/** A change of a balance, with the sign of mathematics: "+4", "−4". */
export const signedCredits = (credits: number): string => `${credits < 0 ? "−" : "+"}${count(Math.abs(credits))}`;

/** An amount with its noun: "1 credit", "4,000 credits". */
export const creditsCount = (credits: number): string => (credits === 1 ? "1 credit" : `${count(credits)} credits`);

/** A date as people read it, such as "21 Nov 2026", in UTC. */
export const dateOf = (date: Date): Html => html`<time datetime="${date.toISOString()}">${DAY.format(date)}</time>`;

/** To make one takes longer than to format hundreds of dates. */
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** A time as people read it, such as "21 Nov 2026, 14:05 UTC". */
export const timeOf = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${DAY.format(date)}, ${date.toISOString().slice(11, 16)} UTC</time>`;

/** An amount as people read it, such as "US$9.00". */
export const moneyText = ({ priceCents, currency }: OrderPrice): string =>
  new Intl.NumberFormat("en-GB", { style: "currency", currency }).format(priceCents / 100);

/** Highest price of these credits, such as "at most US$0.54". `undefined` without the operator's prices. */
export function atMostText(amount: number, packs: CreditPacks): string | undefined {
  const price = priceAtMost(credits(amount), packs);
  return price && `at most ${moneyText(price)}`;
}

/** `4 credits in 1K, 6 in 2K or 10 in 4K` */
export function pricesText(prices: Readonly<Record<Resolution, number>>): string {
  const all = RESOLUTION_NAMES.map((name, index) =>
    index === 0 ? `${prices[name]} credits in ${name.toUpperCase()}` : `${prices[name]} in ${name.toUpperCase()}`,
  );
  return `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
}
