import { RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";

/** `4 credits in 1K, 6 in 2K or 10 in 4K` */
export const pricesText = (prices: Readonly<Record<Resolution, number>>): string => {
  const all = RESOLUTION_NAMES.map((name, index) =>
    index === 0 ? `${prices[name]} credits in ${name.toUpperCase()}` : `${prices[name]} in ${name.toUpperCase()}`,
  );
  return `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
};
