import { RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";
import { joined, type Words, words } from "./html.js";

/** `4 credits in 1K, 6 in 2K or 10 in 4K` */
export const pricesText = (prices: Readonly<Record<Resolution, number>>): Words => {
  const all = RESOLUTION_NAMES.map((name, index) =>
    index === 0
      ? words`${prices[name]} credits in ${name.toUpperCase()}`
      : words`${prices[name]} in ${name.toUpperCase()}`,
  );
  return words`${joined(all.slice(0, -1), ", ")} or ${all.at(-1)}`;
};
