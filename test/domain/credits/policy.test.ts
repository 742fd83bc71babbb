import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Credits } from "../../../domain/credits/credits.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import { type AdmissionLog, admitRequest } from "../../../domain/credits/rate-limit.js";
import { PANORAMA_POLICY, type RequestKind } from "../../../domain/panorama-policy.js";

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
    expect(PANORAMA_POLICY.rates.write).toEqual({ limit: 10, windowSeconds: 60 });
    expect(PANORAMA_POLICY.rates.read).toEqual({ limit: 60, windowSeconds: 60 });
    expect([PANORAMA_POLICY.activeMax, PANORAMA_POLICY.idempotencyHours]).toEqual([5, 24]);
    expectTypeOf<RequestKind>().toEqualTypeOf<
      "read" | "write" | "total" | "form" | "login" | "login_network" | "login_email" | "mail"
    >();
  });
});

describe("a rate with any limit and window", () => {
  it("admits a request if and only if no window exceeds the limit, and returns the time of the next", () => {
    const rates = fc.record({ limit: fc.integer({ min: 1, max: 5 }), windowSeconds: fc.integer({ min: 1, max: 100 }) });
    const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 60_000 })), {
      maxLength: 60,
    });
    return fc.assert(
      fc.property(rates, gaps, (rate, pauses) => {
        const windowMilliseconds = rate.windowSeconds * 1000;
        let [log, now]: [AdmissionLog, number] = [[], 1_767_268_800_000];
        const admitted: number[] = [];
        for (const pause of pauses) {
          now += pause;
          const within = admitted.filter((at) => now - at < windowMilliseconds).length;
          const result = admitRequest(log, rate, now);
          expect(result.isOk()).toBe(within < rate.limit);
          if (result.isOk()) {
            log = result.value.log;
            admitted.push(now);
            expect(result.value.remaining).toBe(rate.limit - within - 1);
            continue;
          }
          const { retryAfterSeconds } = result.error;
          expect(retryAfterSeconds).toBeLessThanOrEqual(rate.windowSeconds);
          expect(admitRequest(log, rate, now + retryAfterSeconds * 1000).isOk()).toBe(true);
        }
      }),
    );
  });
});
