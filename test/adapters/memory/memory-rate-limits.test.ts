import { describe, expect, it } from "vitest";
import { MemoryRateLimits } from "../../../adapters/memory/memory-rate-limits.js";
import type { ApiKeyId } from "../../../domain/api-key.js";
import { rateLimitsContract } from "../../support/contracts/rate-limits-contract.js";
import { HandClock } from "../../support/hand-clock.js";

describe("rate limits in memory", () => {
  rateLimitsContract(async (clock) => new MemoryRateLimits(clock));

  it("forgets keys that have been silent for a window, so that memory is bounded by the traffic of a minute", async () => {
    const clock = new HandClock();
    const limits = new MemoryRateLimits(clock);
    for (let key = 0; key < 1000; key += 1) {
      await clock.advance(1000);
      await limits.admit(`key_${key}` as ApiKeyId, "read");
      expect(limits.size).toBeLessThanOrEqual(60);
    }
  });
});
