import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { CREDIT_PACKS, type CreditPacks, packOf, priceAtMost } from "../../../domain/credits/order.js";

describe("packs of credits", () => {
  it("cost 9, 39 and 129 USD for 100, 500 and 2000 credits", () => {
    expect(CREDIT_PACKS).toEqual([
      { credits: 100, priceCents: 900, currency: "USD" },
      { credits: 500, priceCents: 3900, currency: "USD" },
      { credits: 2000, priceCents: 12900, currency: "USD" },
    ]);
  });

  it("are found by their number of credits, otherwise undefined", () => {
    for (const pack of CREDIT_PACKS) expect(packOf(pack.credits, CREDIT_PACKS)).toEqual(pack);
    for (const amount of [0, -100, 99, Number.NaN]) expect(packOf(amount, CREDIT_PACKS)).toBeUndefined();
  });

  it("cost less per credit with increasing size", () => {
    const prices = CREDIT_PACKS.map(({ credits, priceCents }) => priceCents / credits);
    expect(prices).toEqual([...prices].sort((a, b) => b - a));
    expect(new Set(prices).size).toBe(prices.length);
  });

  it("priceAtMost rounds the highest price per credit up to a cent", () => {
    const pack = fc.record({
      credits: fc.integer({ min: 1, max: 1_000_000 }).map(credits),
      priceCents: fc.integer({ min: 1, max: 10_000_000 }),
      currency: fc.constant("EUR"),
    });
    const packs = fc.tuple(pack, fc.array(pack, { maxLength: 9 })).map(([one, more]): CreditPacks => [one, ...more]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), packs, (amount, offered) => {
        const { priceCents = 0, currency } = priceAtMost(credits(amount), offered) ?? {};
        // By how much it is more than in each pack.
        const more = offered.map((one) => priceCents - (amount * one.priceCents) / one.credits);
        expect([Number.isInteger(priceCents), currency]).toEqual([true, "EUR"]);
        expect(Math.min(...more)).toBeGreaterThanOrEqual(-1e-6);
        expect(Math.min(...more)).toBeLessThan(1);
      }),
    );
    const offered: CreditPacks = [{ credits: credits(50), priceCents: 450, currency: "EUR" }, CREDIT_PACKS[0]];
    expect(priceAtMost(credits(6), offered)).toEqual({ priceCents: 54, currency: "EUR" });
    expect(priceAtMost(credits(6), CREDIT_PACKS)).toBeUndefined();
  });
});
