import { joined, Words, words } from "./html.js";

/** A number as people read it, such as "4,000". */
export const count = (number: number): Words => new Words(({ locale }) => number.toLocaleString(locale));

/** A change of a balance, with the sign of mathematics: "+4", "−4". */
export const change = (credits: number): Words => joined([credits < 0 ? "−" : "+", count(Math.abs(credits))], "");

/** An amount with its noun: "1 credit", "4,000 credits". */
export const creditsCount = (credits: number): Words =>
  credits === 1 ? words`1 credit` : words`${count(credits)} credits`;
