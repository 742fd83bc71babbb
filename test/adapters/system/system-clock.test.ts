import { describe, expect, it } from "vitest";
import { SystemClock } from "../../../adapters/system/system-clock.js";

describe("the system clock", () => {
  const clock = new SystemClock();

  it("sleeps no shorter than it was told", async () => {
    const before = performance.now();
    await clock.sleep(20);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
  });

  it("wakes at once when the sleep is aborted, also if it was before", async () => {
    const abort = new AbortController();
    const sleep = clock.sleep(3_600_000, abort.signal);
    abort.abort();
    await sleep;
    await clock.sleep(3_600_000, abort.signal);
  });
});
