import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SteadyClock } from "../../../adapters/system/steady-clock.js";
import { HandMachine } from "../../support/hand-machine.js";

const START = Date.parse("2026-01-01T12:00:00.000Z");

const aClock = () => {
  const machine = new HandMachine(START);
  return { machine, clock: new SteadyClock(machine) };
};

const someTime = fc.integer({ min: 0, max: 7_200_000 });

describe("SteadyClock", () => {
  it("shows the time of this machine", () => {
    const before = Date.now();
    const shown = new SteadyClock().now().getTime();
    expect(shown).toBeGreaterThanOrEqual(before);
    expect(shown).toBeLessThanOrEqual(Date.now());
  });

  it("measures elapsed time across clock changes and suspends", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("pass" as const), milliseconds: someTime }),
      fc.record({ do: fc.constant("suspend" as const), milliseconds: someTime.filter((some) => some >= 1_000) }),
      fc.record({
        do: fc.constant("setWall" as const),
        milliseconds: fc.integer({ min: -86_400_000, max: 86_400_000 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { machine, clock } = aClock();
        let passed = 0;
        for (const { do: what, milliseconds } of steps) {
          machine[what](milliseconds);
          if (what !== "setWall") passed += milliseconds;
          expect(clock.now().getTime()).toBe(START + passed);
        }
      }),
    );
  });

  it("stands still for a small correction back, and never goes back", () => {
    const { machine, clock } = aClock();
    clock.now();
    clock.correct(-300);
    expect(clock.now().getTime()).toBe(START);
    machine.pass(299);
    expect(clock.now().getTime()).toBe(START);
    machine.pass(2);
    expect(clock.now().getTime()).toBe(START + 1);
  });

  it("goes back at once by a large correction, and forward by any", () => {
    const { clock } = aClock();
    clock.now();
    clock.correct(-600_000);
    expect(clock.now().getTime()).toBe(START - 600_000);
    clock.correct(600_001);
    expect(clock.now().getTime()).toBe(START + 1);
  });

  it("returns the lead of the wall clock", () => {
    const { machine, clock } = aClock();
    machine.setWall(600_000);
    expect(clock.wallAheadMilliseconds()).toBe(600_000);
  });

  it("calls onDoubt once when the wall clock was set", () => {
    const { machine, clock } = aClock();
    let doubts = 0;
    clock.onDoubt = () => {
      doubts += 1;
    };
    machine.pass(60_000);
    clock.now();
    expect(doubts).toBe(0);
    machine.setWall(-2_000);
    clock.now();
    clock.now();
    expect(doubts).toBe(1);
  });

  it("ends sleeps in real time", async () => {
    const began = performance.now();
    await new SteadyClock().sleep(20);
    expect(performance.now() - began).toBeGreaterThan(18);
  });
});
