import { describe, expect, it } from "vitest";
import { CREDIT_PACKS, packOf } from "../../domain/credit-pack.js";

describe("packs of credits", () => {
  it("are found by their number of credits; other numbers give undefined", () => {
    expect(packOf(100)).toEqual({ credits: 100, priceUsdCents: 900 });
    for (const amount of [0, -100, 99, Number.NaN]) expect(packOf(amount)).toBeUndefined();
  });

  it("have a lower price per credit the larger they are", () => {
    const prices = CREDIT_PACKS.map(({ credits, priceUsdCents }) => priceUsdCents / credits);
    expect(prices).toEqual([...prices].sort((a, b) => b - a));
    expect(new Set(prices).size).toBe(prices.length);
  });
});
