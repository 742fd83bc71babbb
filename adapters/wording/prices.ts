import { RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";

const either = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** What one panorama costs: "4 (1k), 6 (2k) or 10 (4k) credits". */
export const pricesSentence = (prices: Readonly<Record<Resolution, number>>): string =>
  `${either.format(RESOLUTION_NAMES.map((name) => `${prices[name]} (${name})`))} credits`;
