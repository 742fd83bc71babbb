import { describe, expect, it } from "vitest";
import { CREDIT_PACKS, packOf } from "../../../domain/credits/credit-pack.js";

describe("packs of credits", () => {
  it("have these prices", () => {
    expect(CREDIT_PACKS).toEqual([
      { credits: 100, priceCents: 900, currency: "USD" },
      { credits: 500, priceCents: 3900, currency: "USD" },
      { credits: 2000, priceCents: 12900, currency: "USD" },
    ]);
  });

  it("are found by their number of credits; other numbers give undefined", () => {
    for (const pack of CREDIT_PACKS) expect(packOf(pack.credits, CREDIT_PACKS)).toEqual(pack);
    for (const amount of [0, -100, 99, Number.NaN]) expect(packOf(amount, CREDIT_PACKS)).toBeUndefined();
  });

  it("have a lower price per credit the larger they are", () => {
    const prices = CREDIT_PACKS.map(({ credits, priceCents }) => priceCents / credits);
    expect(prices).toEqual([...prices].sort((a, b) => b - a));
    expect(new Set(prices).size).toBe(prices.length);
  });
});
