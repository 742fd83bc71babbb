import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { clockSchedule } from "../../../application/background/work-runs.js";
import type { ScheduledWork } from "../../../application/ports/clock.js";

type Times = Pick<ScheduledWork, "everySeconds" | "offsetSeconds">;
const times: fc.Arbitrary<Times> = fc.oneof(
  fc.constantFrom<Times[]>({ everySeconds: 1 }, { everySeconds: 5 }),
  fc.record({ everySeconds: fc.constant(60 as const), offsetSeconds: fc.nat(59) }),
  fc.record({ everySeconds: fc.constant(3600 as const), offsetSeconds: fc.nat(3599) }),
);

const isTime = ({ everySeconds, offsetSeconds = 0 }: Times, second: number): boolean =>
  (second - offsetSeconds) % everySeconds === 0;

describe("clockSchedule", () => {
  it("runs each work at each of its times and at no other, whenever it starts", async () => {
    await fc.assert(
      fc.asyncProperty(times, fc.nat(3_600_000), fc.integer({ min: 0, max: 7_300 }), async (time, start, seconds) => {
        const begin = Date.UTC(2026, 0, 1) + start;
        const clock = new HandClock(new Date(begin));
        const runs: number[] = [];
        const run = async () => void runs.push(clock.now().getTime() / 1000);
        const schedule = clockSchedule(clock)([{ name: "work", ...time, run }], expect.unreachable);
        schedule.start();
        await clock.advance(seconds * 1000);
        await schedule.stop(0);
        const expected: number[] = [];
        for (let second = Math.floor(begin / 1000) + 1; second * 1000 <= begin + seconds * 1000; second += 1) {
          if (isTime(time, second)) expected.push(second);
        }
        expect(runs).toEqual(expected);
        expect(clock.sleeping).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it("skips the times at which the work is running, and runs other work", async () => {
    const clock = new HandClock();
    const runs: string[] = [];
    let end = () => {};
    const slow = () => {
      runs.push("slow");
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    const schedule = clockSchedule(clock)(
      [
        { name: "slow", everySeconds: 1, run: slow },
        { name: "quick", everySeconds: 5, run: async () => void runs.push("quick") },
      ],
      expect.unreachable,
    );
    onTestFinished(() => schedule.stop(0));
    schedule.start();
    await clock.advance(7_000);
    expect(runs).toEqual(["slow", "quick"]);
    end();
    await clock.advance(1_000);
    expect(runs).toEqual(["slow", "quick", "slow"]);
    end();
  });

  it("reports a run that throws, and continues", async () => {
    const clock = new HandClock();
    const failures: unknown[] = [];
    const run = () => {
      throw new Error("broken");
    };
    const schedule = clockSchedule(clock)([{ name: "work", everySeconds: 1, run }], (...failure) =>
      failures.push(failure),
    );
    schedule.start();
    await clock.advance(2_000);
    await schedule.stop(0);
    expect(failures).toEqual([
      ["work", new Error("broken")],
      ["work", new Error("broken")],
    ]);
  });

  it("runs work at once on wake, and once more if it is running", async () => {
    const clock = new HandClock();
    let runs = 0;
    const schedule = clockSchedule(clock)<"work" | "unknown">(
      [
        {
          name: "work",
          everySeconds: 60,
          run: async () => {
            runs += 1;
          },
        },
      ],
      expect.unreachable,
    );
    schedule.start();
    for (let times = 0; times < 3; times += 1) schedule.wake("work");
    schedule.wake("unknown"); // has no effect
    await clock.settled();
    expect(runs).toBe(2);
    await schedule.stop(0);
    schedule.wake("work");
    await clock.settled();
    expect(runs).toBe(2);
  });

  it("stops after the current run, and drops the further run that a wake has asked for", async () => {
    const clock = new HandClock();
    const ends: (() => void)[] = [];
    const run = () => new Promise<void>((resolve) => ends.push(resolve));
    const schedule = clockSchedule(clock)([{ name: "work", everySeconds: 60, run }], expect.unreachable);
    for (let times = 0; times < 2; times += 1) schedule.wake("work");
    await clock.settled();
    let stopped = false;
    const stopping = schedule.stop(1_000).then(() => {
      stopped = true;
    });
    await clock.settled();
    expect(stopped).toBe(false);
    ends[0]?.();
    await stopping;
    expect([ends.length, clock.sleeping]).toEqual([1, 0]);
  });
});
