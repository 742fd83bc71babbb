import { costOf, RESOLUTION_NAMES } from "../../domain/resolution.js";

const costs = RESOLUTION_NAMES.map((resolution) => `${costOf(resolution)} (${resolution})`);

/** What one panorama costs: "4 (1k), 6 (2k) or 10 (4k) credits". */
export const PRICES = `${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(costs)} credits`;
