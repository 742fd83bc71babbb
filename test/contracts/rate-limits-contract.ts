import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkProperty } from "../../adapters/contracts/support/check-property.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import type { RateLimits } from "../../application/ports/stores/rate-limits.js";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { Rate } from "../../domain/credits/rate-limit.js";
import { RATE_LIMITS, RATE_WINDOW_MILLISECONDS, type RequestKind } from "../../domain/panorama-policy.js";

/** Makes rate limits for the kinds of requests that `rates` names. */
export type OpenRateLimits = <Kind extends string>(
  clock: HandClock,
  rates: Readonly<Record<Kind, Rate>>,
) => Promise<RateLimits<Kind>>;

/**
 * What every implementation of RateLimits must do. `open` returns one without any counted request, on this clock, with
 * these limits for each kind of request.
 */
export const rateLimitsContract = (open: OpenRateLimits, runs?: number): void => {
  const openPanorama = (clock: HandClock): Promise<RateLimits> => open(clock, RATE_LIMITS);
  const key = "key_1" as ApiKeyId;
  const kinds = ["read", "write"] as const;

  /** Milliseconds between requests: mostly zero or few, sometimes close to the window. */
  const pause = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 0, 0, 1) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(RATE_WINDOW_MILLISECONDS - 1, RATE_WINDOW_MILLISECONDS, 30_000) },
  );

  describe("RateLimits contract", () => {
    for (const kind of kinds) {
      it(`admits a ${kind} request if and only if no window of 60 s exceeds the limit`, async () => {
        await checkProperty(
          fc.asyncProperty(
            fc.array(pause, { minLength: 30, maxLength: kind === "read" ? 150 : 60 }),
            async (pauses) => {
              const clock = new HandClock();
              const limits = await openPanorama(clock);
              const admitted: number[] = [];
              for (const milliseconds of pauses) {
                await clock.advance(milliseconds);
                const now = clock.now().getTime();
                const inWindow = admitted.filter((at) => now - at < RATE_WINDOW_MILLISECONDS).length;
                const result = await limits.admit(key, kind);
                expect(result.isOk()).toBe(inWindow < RATE_LIMITS[kind].limit);
                if (result.isOk()) {
                  admitted.push(now);
                  expect(result.value.remaining).toBe(RATE_LIMITS[kind].limit - inWindow - 1);
                }
              }
            },
          ),
          { numRuns: 60 },
          { runs },
        );
      });
    }

    for (const kind of kinds) {
      it(`rejects a ${kind} request over the limit, and admits it after retryAfterSeconds`, async () => {
        await checkProperty(
          fc.asyncProperty(
            fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 70, maxLength: 70 }),
            async (pauses) => {
              const clock = new HandClock();
              const limits = await openPanorama(clock);
              for (const milliseconds of pauses) {
                await clock.advance(milliseconds);
                const result = await limits.admit(key, kind);
                if (result.isOk()) continue;
                const { limit, retryAfterSeconds } = result.error;
                expect(limit).toBe(RATE_LIMITS[kind].limit);
                expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 60).toBe(
                  true,
                );
                await clock.advance(retryAfterSeconds * 1000);
                expect((await limits.admit(key, kind)).isOk()).toBe(true);
                return;
              }
              throw new Error("the limit was never reached");
            },
          ),
          { numRuns: 20 },
          { runs: runs && Math.ceil(runs / 3) },
        );
      });
    }

    it("counts each key and each kind of request separately", async () => {
      const limits = await openPanorama(new HandClock());
      for (let request = 0; request < RATE_LIMITS.write.limit; request += 1) await limits.admit(key, "write");
      expect((await limits.admit(key, "write")).isErr()).toBe(true);
      for (const kind of Object.keys(RATE_LIMITS) as RequestKind[]) {
        expect([kind, (await limits.admit(key, kind)).isOk()]).toEqual([kind, kind !== "write"]);
      }
      expect((await limits.admit("key_2" as ApiKeyId, "write")).isOk()).toBe(true);
    });

    it("takes each kind's limit and window from the rates that it is given", async () => {
      const clock = new HandClock();
      const rates = { preview: { limit: 3, windowSeconds: 5 }, print: { limit: 1, windowSeconds: 7_200 } };
      const limits = await open(clock, rates);
      const admitted = async () =>
        [await limits.admit(key, "preview"), await limits.admit(key, "print")].map((result) => result.isOk());
      expect(await admitted()).toEqual([true, true]);
      await clock.advance(4_000);
      expect(await admitted()).toEqual([true, false]);
      expect((await limits.admit(key, "preview"))._unsafeUnwrap()).toEqual({ limit: 3, remaining: 0, resetSeconds: 1 });
      expect((await limits.admit(key, "print"))._unsafeUnwrapErr()).toEqual({
        kind: "rate_limited",
        limit: 1,
        retryAfterSeconds: 7_196,
      });
      await clock.advance(1_000);
      expect(await admitted()).toEqual([true, false]);
      expect((await limits.admit(key, "preview")).isErr()).toBe(true);
      await clock.advance(7_195_000);
      expect(await admitted()).toEqual([true, true]);
    });
  });
};
