import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readUsage } from "../../../application/operators/read-usage.js";
import type { UsageLine } from "../../../application/ports/stores/usage-store.js";
import { CREDIT_PACKS } from "../../../domain/credits/credit-pack.js";

const PERIOD = { from: new Date("2026-11-01T00:00:00Z"), to: new Date("2026-12-01T00:00:00Z") };

const reportOf = (lines: UsageLine[]) =>
  readUsage({ usage: { usage: async () => lines } }, { policy: { packs: CREDIT_PACKS } })(PERIOD);

const line = (given: Partial<UsageLine> = {}): UsageLine => ({
  part: "local",
  ...{ succeeded: 0, failed: 0, active: 0, charged: 0, refunded: 0, held: 0, currency: undefined, micros: 0 },
  ...given,
});

const count = fc.nat({ max: 1000 });
const anyLine: fc.Arbitrary<UsageLine> = fc.record({
  part: fc.constantFrom("fal", "local", "replicate", undefined),
  ...{ succeeded: count, failed: count, active: count, charged: count, refunded: count, held: count },
  currency: fc.constantFrom("EUR", "USD", undefined),
  micros: fc.nat({ max: 1_000_000_000 }),
});

describe("the use of a period", () => {
  it("has as margin the credits at the price of the largest pack, less the costs", async () => {
    // 2,000 credits cost US$129.00: a credit is worth 6.45 cents.
    const { total } = await reportOf([
      line({ succeeded: 2, charged: 10, currency: "USD", micros: 45_000 }),
      line({ succeeded: 1, charged: 10, currency: "USD", micros: 5_000, part: "fal" }),
    ]);
    expect(total.margin).toEqual({ currency: "USD", micros: 20 * 64_500 - 50_000 });
    const loss = await reportOf([line({ succeeded: 1, charged: 1, currency: "USD", micros: 100_000 })]);
    expect(loss.total.margin).toEqual({ currency: "USD", micros: -35_500 });
  });

  it("has no margin if a cost is unknown, or in another currency than the packs", async () => {
    const known = line({ succeeded: 1, charged: 4, currency: "USD", micros: 20_000 });
    const unknown = await reportOf([known, line({ succeeded: 3, charged: 12 })]);
    expect(unknown.total).toMatchObject({ withoutCost: 3, margin: undefined, charged: 16 });
    const foreign = await reportOf([known, line({ succeeded: 1, charged: 4, currency: "EUR", micros: 1 })]);
    expect(foreign.total).toMatchObject({ withoutCost: 0, margin: undefined });
    expect(foreign.total.costs).toEqual([
      { currency: "EUR", micros: 1 },
      { currency: "USD", micros: 20_000 },
    ]);
  });

  it("takes no currency from panoramas that cost nothing, and no cost from failures without one", async () => {
    const { total } = await reportOf([
      line({ succeeded: 1, charged: 4, currency: "XXX", micros: 0 }),
      line({ failed: 5, refunded: 20 }),
    ]);
    expect(total).toMatchObject({ withoutCost: 0, margin: { currency: "USD", micros: 4 * 64_500 } });
  });

  it("has rows by part, those without one last, that sum to the total", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyLine, { maxLength: 12 }), async (lines) => {
        const { rows, total } = await reportOf(lines);
        const parts = rows.map(({ part }) => part);
        const named = parts.filter((part) => part !== undefined);
        expect(named).toEqual([...new Set(named)].sort());
        expect(parts).toEqual(lines.some(({ part }) => part === undefined) ? [...named, undefined] : named);
        for (const name of ["succeeded", "failed", "active", "charged", "refunded", "held", "withoutCost"] as const) {
          expect(rows.reduce((sum, row) => sum + row[name], 0)).toBe(total[name]);
        }
        for (const { currency, micros } of total.costs) {
          const ofRows = rows.flatMap(({ costs }) => costs.filter((cost) => cost.currency === currency));
          expect(ofRows.reduce((sum, cost) => sum + cost.micros, 0)).toBe(micros);
        }
      }),
    );
  });
});
