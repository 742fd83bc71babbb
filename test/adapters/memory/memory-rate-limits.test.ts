import { describe, expect, it } from "vitest";
import { MemoryRateLimits } from "../../../adapters/memory/memory-rate-limits.js";
import type { ApiKeyId } from "../../../domain/api-key.js";
import { rateLimitsContract } from "../../support/contracts/rate-limits-contract.js";
import { HandClock } from "../../support/hand-clock.js";

describe("MemoryRateLimits", () => {
  rateLimitsContract(async (clock) => new MemoryRateLimits(clock));

  it("deletes the logs of keys that were idle for a window, so that memory stays bounded", async () => {
    const clock = new HandClock();
    const limits = new MemoryRateLimits(clock);
    for (let key = 0; key < 1000; key += 1) {
      await clock.advance(1000);
      await limits.admit(`key_${key}` as ApiKeyId, "read");
      expect(limits.size).toBeLessThanOrEqual(60);
    }
  });
});
