import type { Resolution } from "../../../domain/images/resolution.js";

type Prices = Readonly<Record<Resolution, number>>;

const flat = (dollars: number): Prices => ({ "1k": dollars, "2k": dollars, "4k": dollars });

/**
 * What one picture costs in US dollars, from fal's model pages, September 2026. Models that are billed by tokens,
 * quality or megapixels have no price here.
 */
const PRICES: Readonly<Record<string, Prices>> = {
  local: flat(0),
  "fal:seedream-4.5": flat(0.04),
  "fal:flux-3": { "1k": 0.048, "2k": 0.192, "4k": 0.768 },
  "fal:hunyuan-world": flat(0.15),
};

/** `provider`: its full name, with the model. `undefined` if the price is not known. */
export const knownPriceOf = (provider: string, resolution: Resolution): number | undefined =>
  PRICES[provider]?.[resolution];
