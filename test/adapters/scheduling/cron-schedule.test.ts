import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cronSchedule } from "../../../adapters/scheduling/work-schedule.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import { clockSchedule } from "../../../application/background/work-runs.js";
import type { MakeSchedule, ScheduledWork } from "../../../application/ports/clock.js";

const TIMES: readonly Pick<ScheduledWork, "everySeconds" | "offsetSeconds">[] = [
  { everySeconds: 1 },
  { everySeconds: 5 },
  { everySeconds: 60 },
  { everySeconds: 60, offsetSeconds: 45 },
  { everySeconds: 3600 },
  { everySeconds: 3600, offsetSeconds: 1830 },
];

describe("cronSchedule", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
    vi.setSystemTime(Date.UTC(2026, 0, 1, 12, 20, 30, 500));
  });
  afterEach(() => vi.useRealTimers());

  it.each(TIMES)("runs work at the same times as the schedule by the clock: %o", async (times) => {
    const runsOf = async (make: MakeSchedule): Promise<string[]> => {
      const runs: string[] = [];
      const run = async () => void runs.push(new Date(Math.floor(Date.now() / 1000) * 1000).toISOString());
      const schedule = make([{ name: "work", ...times, run }], expect.unreachable);
      const begin = Date.now();
      schedule.start();
      await vi.advanceTimersByTimeAsync(times.everySeconds * 3_000);
      await schedule.stop(0);
      vi.setSystemTime(begin);
      return runs;
    };
    const clock = new SystemClock();
    const runs = await runsOf(cronSchedule(clock));
    expect(runs).toHaveLength(3);
    expect(runs).toEqual(await runsOf(clockSchedule(clock)));
  });
});
