import { describe, expect, it } from "vitest";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { MemoryRateLimits } from "../../../../adapters/persistence/limits/memory-rate-limits.js";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import { RATE_LIMITS } from "../../../../domain/panorama-policy.js";
import { rateLimitsContract } from "../../../contracts/rate-limits-contract.js";

describe("MemoryRateLimits", () => {
  rateLimitsContract(async (clock, rates) => new MemoryRateLimits(clock, rates));

  it("deletes the logs of keys that were idle for two windows", async () => {
    const clock = new HandClock();
    const limits = new MemoryRateLimits(clock, RATE_LIMITS);
    for (let key = 0; key < 1000; key += 1) {
      await clock.advance(1000);
      await limits.admit(`key_${key}` as ApiKeyId, "read");
      expect(limits.size).toBeLessThanOrEqual(120);
    }
  });

  it("keeps nothing of keys that were idle for two windows when it is cleaned, also if no request comes", async () => {
    const sizeAfter = async (milliseconds: number) => {
      const clock = new HandClock();
      const limits = new MemoryRateLimits(clock, RATE_LIMITS);
      for (const key of ["key_1", "key_2"]) limits.admit(key as ApiKeyId, "read");
      await clock.advance(milliseconds);
      await limits.clean();
      return limits.size;
    };
    expect(await sizeAfter(119_000)).toBe(2);
    expect(await sizeAfter(120_000)).toBe(0);
  });
});
