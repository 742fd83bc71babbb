import type { Resolution } from "../images/resolution.js";

/** What a generation cost the operator, in millionths of a currency's unit. `currency`: code of ISO 4217. */
export type GenerationCost = { readonly currency: string; readonly micros: number };

/**
 * What a provider tells about the cost of a generation: the amount, or how many units it bills (Replicate: seconds of
 * its hardware; fal: the unit of the model).
 */
export type Billed = GenerationCost | { readonly units: number };

/** What the operator pays a provider, in millionths of the currency's unit. */
export type ProviderPrice = {
  readonly currency: string;
  /** For each panorama that the provider has made. */
  readonly perPanorama?: Readonly<Record<Resolution, number>> | undefined;
  /** For each unit that the provider bills, also for a generation that has failed. */
  readonly perUnit?: number | undefined;
};

/** By the name of the place (`fal:seedream-4.5`), or of the provider for all of its places (`replicate`). */
export type ProviderPrices = Readonly<Record<string, ProviderPrice>>;

/** Larger amounts are mistakes: sums of millions of them stay exact. */
const COST_MICROS_MAX = 1_000_000_000;

/** The price at this place; `undefined` if none is known. */
export const priceOf = (prices: ProviderPrices, place: string | undefined): ProviderPrice | undefined => {
  if (place === undefined) return undefined;
  const provider = place.slice(0, `${place}:`.indexOf(":"));
  const name = [place, provider].find((known) => Object.hasOwn(prices, known));
  return name === undefined ? undefined : prices[name];
};

/**
 * What a generation that has ended cost. An amount of the provider counts first, then its units, then the price of a
 * panorama, if it has made one. `undefined` if none of them is known, or the amount cannot be right.
 */
export const costOfGeneration = (
  price: ProviderPrice | undefined,
  resolution: Resolution,
  { billed, isMade }: { readonly billed?: Billed | undefined; readonly isMade: boolean },
): GenerationCost | undefined => {
  const cost = billed !== undefined && "micros" in billed ? billed : priced(price, resolution, billed?.units, isMade);
  if (cost === undefined) return undefined;
  const micros = Math.round(cost.micros);
  return micros >= 0 && micros <= COST_MICROS_MAX ? { currency: cost.currency, micros } : undefined;
};

const priced = (
  price: ProviderPrice | undefined,
  resolution: Resolution,
  units: number | undefined,
  isMade: boolean,
): GenerationCost | undefined => {
  if (price === undefined) return undefined;
  const { currency, perUnit, perPanorama } = price;
  if (perUnit !== undefined && units !== undefined) return { currency, micros: perUnit * units };
  return isMade && perPanorama !== undefined ? { currency, micros: perPanorama[resolution] } : undefined;
};
