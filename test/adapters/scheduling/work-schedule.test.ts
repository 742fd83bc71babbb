import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { WorkSchedule } from "../../../adapters/scheduling/work-schedule.js";

const EVERY_SECOND = "* * * * * *";
const NEVER = "0 0 0 1 1 *";

/** Work whose runs end when the test calls `end` or `fail`. */
class ControlledWork {
  started = 0;
  running = 0;
  runningMax = 0;
  private ends: { resolve: () => void; reject: (error: unknown) => void }[] = [];

  readonly run = async (): Promise<void> => {
    this.started += 1;
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    try {
      await new Promise<void>((resolve, reject) => this.ends.push({ resolve, reject }));
    } finally {
      this.running -= 1;
    }
  };

  async end(): Promise<void> {
    this.ends.shift()?.resolve();
    await setImmediate();
  }

  async fail(error: unknown): Promise<void> {
    this.ends.shift()?.reject(error);
    await setImmediate();
  }
}

describe("WorkSchedule", () => {
  let work: ControlledWork;
  let failures: [string, unknown][];
  let clock: HandClock;
  let schedule: WorkSchedule<"settle">;
  const scheduled = (cron: string) => {
    schedule = new WorkSchedule([{ name: "settle", cron, run: work.run }], clock, (...failure) =>
      failures.push(failure),
    );
    schedule.start();
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
    work = new ControlledWork();
    failures = [];
    clock = new HandClock();
  });
  afterEach(async () => {
    const stopped = schedule.stop(0);
    await clock.advance(1);
    await stopped;
    vi.useRealTimers();
  });

  it("runs work at the times of its cron expression, seconds first", async () => {
    scheduled(EVERY_SECOND);
    for (const times of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(1000);
      expect(work.started).toBe(times);
      await work.end();
    }
  });

  it("continues within two seconds after the clock was set back by an hour, and runs once per time", async () => {
    scheduled(EVERY_SECOND);
    await vi.advanceTimersByTimeAsync(1000);
    await work.end();
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(2000);
    expect(work.started).toBe(2);
    await work.end();
    for (const times of [3, 4, 5]) {
      await vi.advanceTimersByTimeAsync(1000);
      expect(work.started).toBe(times);
      await work.end();
    }
  });

  it("skips a scheduled time while the work is running", async () => {
    scheduled(EVERY_SECOND);
    await vi.advanceTimersByTimeAsync(5000);
    expect(work.started).toBe(1);
    await work.end();
    expect(work.started).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(work.started).toBe(2);
  });

  it("runs work immediately on wake", () => {
    scheduled(NEVER);
    schedule.wake("settle");
    expect(work.started).toBe(1);
  });

  it("runs work once more after the current run when it is woken five times during the run", async () => {
    scheduled(NEVER);
    for (let times = 0; times < 5; times += 1) schedule.wake("settle");
    expect(work.started).toBe(1);
    await work.end();
    expect(work.started).toBe(2);
    await work.end();
    expect(work.started).toBe(2);
    schedule.wake("settle");
    expect(work.started).toBe(3);
    expect(work.runningMax).toBe(1);
  });

  it("never runs the same work twice at a time, from the schedule and from wake together", async () => {
    scheduled(EVERY_SECOND);
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(3000);
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(3000);
    expect(work.started).toBe(1);
    await work.end();
    await vi.advanceTimersByTimeAsync(3000);
    expect([work.started, work.runningMax]).toEqual([2, 1]);
  });

  it("reports a run that throws and keeps running the work on schedule", async () => {
    const log = vi.spyOn(console, "error");
    scheduled(EVERY_SECOND);
    await vi.advanceTimersByTimeAsync(1000);
    schedule.wake("settle");
    const error = new Error("the database is gone");
    await work.fail(error);
    expect(failures).toEqual([["settle", error]]);
    expect(work.started).toBe(2);
    await work.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(work.started).toBe(3);
    expect(log).not.toHaveBeenCalled();
  });

  it("reports work that throws synchronously", async () => {
    const failing = new WorkSchedule(
      [
        {
          name: "clean",
          cron: NEVER,
          run: () => {
            throw new Error("synchronous");
          },
        },
      ],
      clock,
      (...failure) => failures.push(failure),
    );
    scheduled(NEVER);
    for (const times of [1, 2]) {
      failing.wake("clean");
      await setImmediate();
      expect(failures).toHaveLength(times);
    }
  });

  it("stop waits for the current run; afterwards neither the schedule nor wake starts a run", async () => {
    scheduled(EVERY_SECOND);
    await vi.advanceTimersByTimeAsync(1000);
    schedule.wake("settle");
    let stopped = false;
    const stopping = schedule.stop(10_000).then(() => {
      stopped = true;
    });
    schedule.wake("settle");
    await clock.advance(9_999);
    expect(stopped).toBe(false);
    await work.end();
    await stopping;
    expect(clock.sleeping).toBe(0);
    schedule.wake("settle");
    await vi.advanceTimersByTimeAsync(5000);
    expect(work.started).toBe(1);
  });

  it("stop resolves at the deadline when a run does not end", async () => {
    scheduled(NEVER);
    schedule.wake("settle");
    const stopping = schedule.stop(10_000);
    await clock.advance(10_000);
    await stopping;
    expect(work.running).toBe(1);
  });

  it("start throws on an invalid cron expression", () => {
    scheduled(NEVER);
    const broken = new WorkSchedule([{ name: "clean", cron: "every day", run: work.run }], clock, () => {});
    expect(() => broken.start()).toThrow();
  });
});
