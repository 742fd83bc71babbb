import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Resolution } from "../../../domain/images/resolution.js";
import { costOfGeneration, type ProviderPrice, priceOf } from "../../../domain/tasks/generation-cost.js";

const perPanorama = { "1k": 10_000, "2k": 20_000, "4k": 40_000 };
const flat: ProviderPrice = { currency: "EUR", perPanorama };
const metered: ProviderPrice = { currency: "USD", perUnit: 1_525, perPanorama };
const resolution = fc.constantFrom<Resolution[]>("1k", "2k", "4k");

describe("costOfGeneration", () => {
  it("takes the provider's amount before any price", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), resolution, fc.boolean(), (micros, resolution, isMade) => {
        const billed = { currency: "USD", micros };
        expect(costOfGeneration(flat, resolution, { billed, isMade })).toEqual(billed);
        expect(costOfGeneration(undefined, resolution, { billed, isMade })).toEqual(billed);
      }),
    );
  });

  it("multiplies the provider's units with the price of one, also for a failure", () => {
    expect(costOfGeneration(metered, "2k", { billed: { units: 12.345 }, isMade: false })).toEqual({
      currency: "USD",
      micros: 18_826,
    });
  });

  it("takes the price of a panorama for one that was made, and nothing for a failure", () => {
    fc.assert(
      fc.property(resolution, fc.constantFrom(flat, metered), (resolution, price) => {
        const { currency } = price;
        expect(costOfGeneration(price, resolution, { isMade: true })).toEqual({
          currency,
          micros: perPanorama[resolution],
        });
        expect(costOfGeneration(price, resolution, { isMade: false })).toBeUndefined();
      }),
    );
    expect(costOfGeneration(flat, "4k", { billed: { units: 3 }, isMade: false })).toBeUndefined();
    expect(costOfGeneration(undefined, "4k", { billed: { units: 3 }, isMade: true })).toBeUndefined();
  });

  it("is never negative, fractional or too large to be summed, whatever a provider tells", () => {
    fc.assert(
      fc.property(fc.double(), fc.boolean(), (number, isUnits) => {
        const billed = isUnits ? { units: number } : { currency: "USD", micros: number };
        const cost = costOfGeneration(metered, "1k", { billed, isMade: true });
        if (cost !== undefined) expect(Number.isSafeInteger(cost.micros) && cost.micros >= 0).toBe(true);
      }),
    );
  });
});

describe("priceOf", () => {
  const prices = { "fal:flux-3": flat, replicate: metered };

  it("finds the price of the place, or else of its provider", () => {
    expect(priceOf(prices, "fal:flux-3")).toBe(flat);
    expect(priceOf(prices, "fal:seedream-4.5")).toBeUndefined();
    expect(priceOf(prices, "replicate:owner/model")).toBe(metered);
    expect(priceOf(prices, "replicate")).toBe(metered);
    for (const unknown of [undefined, "", "fal", "constructor", "__proto__:x"]) {
      expect(priceOf(prices, unknown)).toBeUndefined();
    }
  });
});
