import { describe, expect, expectTypeOf, it } from "vitest";
import type { Credits } from "../../../domain/credits/credits.js";
import { definePolicy, rateOf } from "../../../domain/credits/policy.js";
import {
  IDEMPOTENCY_KEPT_MILLISECONDS,
  PANORAMA_POLICY,
  RATE_WINDOW_MILLISECONDS,
  scopeOf,
} from "../../../domain/panorama-policy.js";

const numbers = {
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 30, windowSeconds: 60 } },
  activeMax: 2,
};

describe("a policy", () => {
  it("takes the given numbers; defaults: 24 hours for idempotency keys, one hour for holds", () => {
    expect(definePolicy(numbers)).toEqual({ ...numbers, idempotencyHours: 24, holdSeconds: 3600 });
    const all = { ...numbers, idempotencyHours: 1, holdSeconds: 7 };
    expect(definePolicy(all)).toEqual(all);
    expect(definePolicy({ prices: { free: 0 }, rates: {}, activeMax: 1 }).prices).toEqual({ free: 0 });
  });

  it("does not compile with an unknown price or rate name", () => {
    const policy = definePolicy(numbers);
    expectTypeOf(policy.prices).toEqualTypeOf<Readonly<Record<"draft" | "print", Credits>>>();
    expectTypeOf<keyof typeof policy.rates>().toEqualTypeOf<"render">();
    // @ts-expect-error: there is no such price
    expect(policy.prices.poster).toBeUndefined();
    expect(() => rateOf<string>({ rates: {} }, "write")).toThrow('no rate "write". It has none.');
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "cannot have a limit, a window or a maximum of %d",
    (n) => {
      const rate = (change: object) => ({ rates: { render: { limit: 1, windowSeconds: 1, ...change } } });
      const refused: readonly (readonly [string, object])[] = [
        ["activeMax", { activeMax: n }],
        ["idempotencyHours", { idempotencyHours: n }],
        ["holdSeconds", { holdSeconds: n }],
        ["rates.render.limit", rate({ limit: n })],
        ["rates.render.windowSeconds", rate({ windowSeconds: n })],
      ];
      for (const [name, change] of refused) {
        const message = `${name} of a policy must be an integer of 1 or more, not ${n}`;
        expect(() => definePolicy({ ...numbers, ...change })).toThrow(new RangeError(message));
      }
    },
  );

  it.each([-1, 0.5, Number.NaN])("cannot have a price of %d", (amount) => {
    expect(() => definePolicy({ ...numbers, prices: { print: amount } })).toThrow(
      new RangeError(`${amount} is not a valid amount of credits`),
    );
  });

  it("of the panorama service has the numbers of the specification", () => {
    expect(PANORAMA_POLICY.prices).toEqual({ "1k": 4, "2k": 6, "4k": 10 });
    const { activeMax, idempotencyHours, suspendOnDispute } = PANORAMA_POLICY;
    expect([activeMax, idempotencyHours, suspendOnDispute]).toEqual([5, 24, false]);
    expect(IDEMPOTENCY_KEPT_MILLISECONDS).toBe(86_400_000);
    const rates = Object.entries(PANORAMA_POLICY.rates).map(([kind, { limit }]) => [kind, limit]);
    const logins = { login: 10, login_network: 60, login_email: 100, mail: 10 };
    expect(Object.fromEntries(rates)).toEqual({ write: 10, read: 60, total: 200, form: 60, ...logins });
    expect(new Set(Object.values(PANORAMA_POLICY.rates).map((rate) => rate.windowSeconds))).toEqual(new Set([60]));
    expect(RATE_WINDOW_MILLISECONDS).toBe(60_000);
    expect([scopeOf("write"), scopeOf("read")]).toEqual(["create", "read"]);
  });
});
