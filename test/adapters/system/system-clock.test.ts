import { describe, expect, it } from "vitest";
import { SystemClock } from "../../../adapters/system/system-clock.js";

describe("SystemClock", () => {
  const clock = new SystemClock();

  it("sleeps at least the given time", async () => {
    const before = performance.now();
    await clock.sleep(20);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
  });

  it("does not wake at once from a sleep that is longer than the timers of the runtime", async () => {
    const abort = new AbortController();
    let isAwake = false;
    const sleep = clock.sleep(Number.POSITIVE_INFINITY, abort.signal).then(() => (isAwake = true));
    await clock.sleep(20);
    expect(isAwake).toBe(false);
    abort.abort();
    await sleep;
  });

  it("ends a sleep immediately on abort, also if the signal was aborted before", async () => {
    const abort = new AbortController();
    const sleep = clock.sleep(3_600_000, abort.signal);
    abort.abort();
    await sleep;
    await clock.sleep(3_600_000, abort.signal);
  });
});
