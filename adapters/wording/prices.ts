import { costOf } from "../../domain/resolution.js";
import { resolutionSchema } from "../../domain/resolution-schema.js";

const costs = resolutionSchema.options.map((resolution) => `${costOf(resolution)} (${resolution})`);

/** What one panorama costs: "4 (1k), 6 (2k) or 10 (4k) credits". */
export const PRICES = `${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(costs)} credits`;
