import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { cronSchedule, WorkSchedule } from "../../../adapters/scheduling/work-schedule.js";
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

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  vi.setSystemTime(Date.UTC(2026, 0, 1, 12, 20, 30, 500));
});
afterEach(() => vi.useRealTimers());

it.each(TIMES)("cronSchedule runs work at the same times as the schedule by the clock: %o", async (times) => {
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

// What it shares with the schedule by the clock: test/application/background/clock-schedule.test.ts.
describe("WorkSchedule", () => {
  let started: number;
  /** Of the runs that have not ended. */
  let ends: { resolve: () => void; reject: (error: unknown) => void }[];
  let failures: [string, unknown][];
  let clock: HandClock;
  let schedule: WorkSchedule<"settle">;

  beforeEach(() => {
    [started, ends, failures, clock] = [0, [], [], new HandClock()];
    const run = () => {
      started += 1;
      return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
    };
    const everySecond = { name: "settle", cron: "* * * * * *", run } as const;
    schedule = new WorkSchedule([everySecond], clock, (...failure) => failures.push(failure));
    schedule.start();
  });
  afterEach(async () => {
    const stopped = schedule.stop(0);
    await clock.advance(1);
    await stopped;
  });

  const end = async () => {
    ends.shift()?.resolve();
    await setImmediate();
  };

  it("continues within two seconds after the clock was set back by an hour, and runs once per time", async () => {
    await vi.advanceTimersByTimeAsync(1000);
    await end();
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(2000);
    expect(started).toBe(2);
    await end();
    for (const times of [3, 4, 5]) {
      await vi.advanceTimersByTimeAsync(1000);
      expect(started).toBe(times);
      await end();
    }
  });

  it("never runs the same work twice at a time, from the schedule and from wake together", async () => {
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(3000);
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(3000);
    expect(started).toBe(1);
    await end();
    await vi.advanceTimersByTimeAsync(3000);
    expect([started, ends.length]).toEqual([2, 1]);
  });

  it("reports a run that throws, to nobody else, and keeps running the work", async () => {
    const log = vi.spyOn(console, "error");
    await vi.advanceTimersByTimeAsync(1000);
    const error = new Error("the database is gone");
    ends.shift()?.reject(error);
    await setImmediate();
    expect(failures).toEqual([["settle", error]]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(started).toBe(2);
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  it("stop waits for the current run, at most until the deadline; afterwards nothing starts a run", async () => {
    await vi.advanceTimersByTimeAsync(1000);
    let stopped = false;
    const stopping = schedule.stop(10_000).then(() => {
      stopped = true;
    });
    await clock.advance(9_999);
    expect(stopped).toBe(false);
    await clock.advance(1);
    await stopping;
    await end();
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(5000);
    expect(started).toBe(1);
  });
});
