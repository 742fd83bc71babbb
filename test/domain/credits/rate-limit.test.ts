import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { type AdmissionLog, accountRateLimited, admitRequest } from "../../../domain/credits/rate-limit.js";
import { RATE_LIMITS, RATE_WINDOW_MILLISECONDS, scopeOf } from "../../../domain/panorama-policy.js";

/** The definition, without optimisation: no window [start, start + 60 s) contains more than `limit` of these times. */
const keepsTheLimit = (times: readonly number[], limit: number): boolean =>
  times.every((start) => times.filter((at) => at >= start && at < start + 60_000).length <= limit);

/** Milliseconds between two requests: bursts, seconds, and the exact boundary of the window. */
const gap = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 20_000 }),
  fc.constantFrom(1, 999, 1000, 29_999, 30_000, 59_999, 60_000, 60_001),
);
const limits = fc.integer({ min: 1, max: 5 });
const perMinute = (limit: number) => ({ limit, windowSeconds: 60 });
const start = 1_767_268_800_000;

describe("the rate limit", () => {
  it("is 10 writes and 60 reads of a key in 60 seconds, and 200 writes and 60 forms of an account", () => {
    const logins = { login: 10, login_network: 60, login_email: 100, mail: 10 };
    const limits = Object.entries(RATE_LIMITS).map(([kind, { limit }]) => [kind, limit]);
    expect(Object.fromEntries(limits)).toEqual({ write: 10, read: 60, total: 200, form: 60, ...logins });
    expect(new Set(Object.values(RATE_LIMITS).map(({ windowSeconds }) => windowSeconds))).toEqual(new Set([60]));
    expect(RATE_WINDOW_MILLISECONDS).toBe(60_000);
  });

  it("returns account_rate_limited for the limit of an account", () => {
    const limited = { kind: "rate_limited", limit: 200, retryAfterSeconds: 7 } as const;
    expect(accountRateLimited(limited)).toEqual({ ...limited, kind: "account_rate_limited" });
  });

  it("needs the scope create for a write, and read for a read", () => {
    expect([scopeOf("write"), scopeOf("read")]).toEqual(["create", "read"]);
  });

  it("admits a burst up to the limit, refuses one more, and admits again when the first leaves the window", () => {
    let log: AdmissionLog = [];
    for (let n = 0; n < 10; n += 1) log = admitRequest(log, perMinute(10), start)._unsafeUnwrap().log;

    expect(admitRequest(log, perMinute(10), start)).toEqual(
      err({ kind: "rate_limited", limit: 10, retryAfterSeconds: 60 }),
    );
    expect(admitRequest(log, perMinute(10), start + 59_999)).toEqual(
      err({ kind: "rate_limited", limit: 10, retryAfterSeconds: 1 }),
    );
    expect(admitRequest(log, perMinute(10), start + 60_000)).toEqual(
      ok({ log: [start + 60_000], limit: 10, remaining: 9, resetSeconds: 60 }),
    );
  });

  it("returns how many requests remain, and when one more is admitted", () => {
    const first = admitRequest([], perMinute(3), start)._unsafeUnwrap();
    expect(first).toMatchObject({ remaining: 2, resetSeconds: 60 });
    const second = admitRequest(first.log, perMinute(3), start + 20_500)._unsafeUnwrap();
    expect(second).toMatchObject({ remaining: 1, resetSeconds: 40 });
    expect(second.log).toEqual([start, start + 20_500]);
  });

  it("admits exactly the requests that the definition allows", () => {
    return fc.assert(
      fc.property(limits, fc.array(gap, { maxLength: 60 }), (limit, gaps) => {
        let now = start;
        let log: AdmissionLog = [];
        const admitted: number[] = [];
        for (const wait of gaps) {
          now += wait;
          const allowed = keepsTheLimit([...admitted, now], limit);
          const result = admitRequest(log, perMinute(limit), now);
          expect(result.isOk()).toBe(allowed);
          if (result.isErr()) continue;
          log = result.value.log;
          admitted.push(now);
        }
        expect(keepsTheLimit(admitted, limit)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("returns exact values for `remaining`, `resetSeconds` and `retryAfterSeconds`", () => {
    const burst = (log: AdmissionLog, limit: number, at: number): number => {
      const result = admitRequest(log, perMinute(limit), at);
      return result.isOk() ? 1 + burst(result.value.log, limit, at) : 0;
    };
    return fc.assert(
      fc.property(limits, fc.array(gap, { minLength: 1, maxLength: 40 }), (limit, gaps) => {
        let now = start;
        let log: AdmissionLog = [];
        for (const wait of gaps) {
          now += wait;
          const result = admitRequest(log, perMinute(limit), now);
          const seconds = result.match(
            ({ resetSeconds }) => resetSeconds,
            ({ retryAfterSeconds }) => retryAfterSeconds,
          );
          expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
          if (result.isOk()) log = result.value.log;
          const free = result.isOk() ? result.value.remaining : 0;
          expect(burst(log, limit, now)).toBe(free);
          // Without further requests, one more is admitted after this time, and none a second earlier.
          expect(burst(log, limit, now + seconds * 1000)).toBeGreaterThan(free);
          expect(burst(log, limit, now + (seconds - 1) * 1000)).toBe(free);
        }
      }),
    );
  });

  it("drops admissions outside the window, so the log never exceeds the limit", () => {
    return fc.assert(
      fc.property(limits, fc.array(gap, { maxLength: 60 }), (limit, gaps) => {
        let now = start;
        let log: AdmissionLog = [];
        for (const wait of gaps) {
          now += wait;
          log = admitRequest(log, perMinute(limit), now).match(
            (admission) => admission.log,
            () => log,
          );
          expect(log.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  const clockThatIsSetBack = (setBackMax: number) =>
    fc.array(fc.record({ wait: gap, setBack: fc.oneof(fc.constant(0), fc.nat(setBackMax)) }), { maxLength: 40 });

  it("keeps the limit in real time if the clock is set back by less than a window", () => {
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
        expect(keepsTheLimit(admitted, limit)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses requests for at most two windows when the clock is set back by any time", () => {
    return fc.assert(
      fc.property(limits, clockThatIsSetBack(7_200_000), (limit, steps) => {
        let clock = start;
        let log: AdmissionLog = [];
        for (const { wait, setBack } of steps) {
          clock += wait - setBack;
          const result = admitRequest(log, perMinute(limit), clock);
          if (result.isErr()) {
            const { retryAfterSeconds } = result.error;
            expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
            expect(retryAfterSeconds).toBeLessThanOrEqual(120);
            expect(admitRequest(log, perMinute(limit), clock + retryAfterSeconds * 1000).isOk()).toBe(true);
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
