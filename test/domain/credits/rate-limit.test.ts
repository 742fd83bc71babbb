import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { type AdmissionLog, accountRateLimited, admitRequest, type Rate } from "../../../domain/credits/rate-limit.js";

/** The definition, without optimisation: no window contains more than `limit` of these times. */
const keepsTheLimit = (times: readonly number[], { limit, windowSeconds }: Rate): boolean =>
  times.every((start) => times.filter((at) => at >= start && at < start + windowSeconds * 1000).length <= limit);

/** Milliseconds between two requests: bursts, seconds, and the exact boundary of the window of a minute. */
const gap = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 20_000 }),
  fc.constantFrom(1, 999, 1000, 29_999, 30_000, 59_999, 60_000, 60_001),
);
const rates = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  windowSeconds: fc.oneof(fc.constant(60), fc.integer({ min: 1, max: 100 })),
});
const perMinute = (limit: number): Rate => ({ limit, windowSeconds: 60 });
const start = 1_767_268_800_000;

describe("the rate limit", () => {
  it("returns account_rate_limited for the limit of an account", () => {
    const limited = { kind: "rate_limited", limit: 200, retryAfterSeconds: 7 } as const;
    expect(accountRateLimited(limited)).toEqual({ ...limited, kind: "account_rate_limited" });
  });

  it("admits a burst up to the limit, refuses one more, and admits again when the first leaves the window", () => {
    let log: AdmissionLog = [];
    for (let n = 0; n < 10; n += 1) log = admitRequest(log, perMinute(10), start)._unsafeUnwrap().log;
    const refused = (retryAfterSeconds: number) => err({ kind: "rate_limited", limit: 10, retryAfterSeconds });
    expect(admitRequest(log, perMinute(10), start)).toEqual(refused(60));
    expect(admitRequest(log, perMinute(10), start + 59_999)).toEqual(refused(1));
    expect(admitRequest(log, perMinute(10), start + 60_000)).toEqual(
      ok({ log: [start + 60_000], limit: 10, remaining: 9, resetSeconds: 60 }),
    );
  });

  it("admits exactly the requests that the definition allows, and keeps no more times than the limit", () => {
    return fc.assert(
      fc.property(rates, fc.array(gap, { maxLength: 60 }), (rate, gaps) => {
        let now = start;
        let log: AdmissionLog = [];
        const admitted: number[] = [];
        for (const wait of gaps) {
          now += wait;
          const allowed = keepsTheLimit([...admitted, now], rate);
          const result = admitRequest(log, rate, now);
          expect(result.isOk()).toBe(allowed);
          if (result.isErr()) continue;
          log = result.value.log;
          expect(log.length).toBeLessThanOrEqual(rate.limit);
          admitted.push(now);
        }
        expect(keepsTheLimit(admitted, rate)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("returns exact values for `remaining`, `resetSeconds` and `retryAfterSeconds`", () => {
    const burst = (log: AdmissionLog, rate: Rate, at: number): number => {
      const result = admitRequest(log, rate, at);
      return result.isOk() ? 1 + burst(result.value.log, rate, at) : 0;
    };
    return fc.assert(
      fc.property(rates, fc.array(gap, { minLength: 1, maxLength: 40 }), (rate, gaps) => {
        let now = start;
        let log: AdmissionLog = [];
        for (const wait of gaps) {
          now += wait;
          const result = admitRequest(log, rate, now);
          const seconds = result.match(
            ({ resetSeconds }) => resetSeconds,
            ({ retryAfterSeconds }) => retryAfterSeconds,
          );
          expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= rate.windowSeconds).toBe(true);
          if (result.isOk()) log = result.value.log;
          const free = result.isOk() ? result.value.remaining : 0;
          expect(burst(log, rate, now)).toBe(free);
          // Without further requests, one more is admitted after this time, and none a second earlier.
          expect(burst(log, rate, now + seconds * 1000)).toBeGreaterThan(free);
          expect(burst(log, rate, now + (seconds - 1) * 1000)).toBe(free);
        }
      }),
    );
  });

  it("drops admissions a whole window in the future, because the clock was set back", () => {
    const log = [start, start + 1, start + 59_000];
    const now = start - 2_000;
    expect(admitRequest(log, perMinute(3), now)._unsafeUnwrap()).toMatchObject({ log: [now, start, start + 1] });
  });

  const clockThatIsSetBack = (setBackMax: number) =>
    fc.array(fc.record({ wait: gap, setBack: fc.oneof(fc.constant(0), fc.nat(setBackMax)) }), { maxLength: 40 });

  it("keeps the limit in real time if the clock is set back by less than a window", () => {
    const limits = fc.integer({ min: 1, max: 5 });
    return fc.assert(
      fc.property(limits, clockThatIsSetBack(1_499), (limit, steps) => {
        let real = start;
        let behind = 0;
        let log: AdmissionLog = [];
        const admitted: number[] = [];
        for (const { wait, setBack } of steps) {
          real += wait;
          behind += setBack;
          const result = admitRequest(log, perMinute(limit), real - behind);
          if (result.isErr()) continue;
          log = result.value.log;
          admitted.push(real);
        }
        expect(keepsTheLimit(admitted, perMinute(limit))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses requests for at most two windows when the clock is set back by any time", () => {
    return fc.assert(
      fc.property(rates, clockThatIsSetBack(7_200_000), (rate, steps) => {
        let clock = start;
        let log: AdmissionLog = [];
        for (const { wait, setBack } of steps) {
          clock += wait - setBack;
          const result = admitRequest(log, rate, clock);
          if (result.isErr()) {
            const { retryAfterSeconds } = result.error;
            expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
            expect(retryAfterSeconds).toBeLessThanOrEqual(2 * rate.windowSeconds);
            expect(admitRequest(log, rate, clock + retryAfterSeconds * 1000).isOk()).toBe(true);
          } else {
            log = result.value.log;
            expect(log).toEqual([...log].sort((a, b) => a - b));
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
