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
});
