import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Comparison, openDatabaseClock } from "../../../../../adapters/persistence/database/sql/database-clock.js";
import { HandMachine } from "../../../../support/hand-machine.js";

const START = Date.parse("2026-01-01T12:00:00.000Z");
const MINUTE = 60_000;
const COMPARISON_MILLISECONDS = 5_000;

/** A PostgreSQL server with a clock of its own. Statements take time before and after they read it. */
class HandServer {
  readonly dialect = "postgresql";
  answers = true;
  before = 0.5;
  after = 0.5;
  private readonly machine: HandMachine;
  private ahead: number;

  constructor(machine: HandMachine, time: number) {
    this.machine = machine;
    this.ahead = time - machine.uptime();
  }

  time(): number {
    return this.machine.uptime() + this.ahead;
  }

  set(milliseconds: number): void {
    this.ahead += milliseconds;
  }

  readonly sql = async () => {
    if (!this.answers) throw new Error("The server does not answer.");
    this.machine.pass(this.before);
    const milliseconds = this.time();
    this.machine.pass(this.after);
    return [{ milliseconds }];
  };
}

describe("openDatabaseClock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Lets time pass on the machine, with the comparisons that are due. */
  const pass = async (machine: HandMachine, milliseconds: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= COMPARISON_MILLISECONDS) {
      machine.pass(Math.min(left, COMPARISON_MILLISECONDS));
      await vi.advanceTimersByTimeAsync(Math.min(left, COMPARISON_MILLISECONDS));
    }
  };

  const onServer = async (wallAhead: number, delays: Partial<Pick<HandServer, "before" | "after">> = {}) => {
    const machine = new HandMachine(START + wallAhead);
    const server = Object.assign(new HandServer(machine, START), delays);
    const comparisons: Comparison[] = [];
    const clock = await openDatabaseClock(server, { machine, onCompared: (found) => comparisons.push(found) });
    const error = () => clock.now().getTime() - server.time();
    return { machine, server, clock, error, comparisons };
  };

  describe("on PostgreSQL", () => {
    it("returns the server's time from the start, for any wall clock", async () => {
      for (const wallAhead of [-600_000, 0, 250, 600_000]) {
        const { clock, error, comparisons } = await onServer(wallAhead);
        expect(Math.abs(error())).toBeLessThanOrEqual(1);
        expect(clock.wallAheadMilliseconds()).toBeCloseTo(wallAhead, -1);
        expect(comparisons).toHaveLength(3);
        clock.close();
      }
    });

    it("differs from the server by at most the time of the slowest statement, even when the wall clock is set", async () => {
      const delay = fc.constantFrom(0, 0.5, 20, 900);
      const step = fc.record({
        pass: fc.integer({ min: 1, max: 60_000 }),
        wall: fc.constantFrom(0, -600_000, 600_000, 1_500, -86_400_000),
        suspended: fc.constantFrom(0, 0, 90_000),
        before: delay,
        after: delay,
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
          const { machine, server, clock, error } = await onServer(600_000);
          for (const { pass: some, wall, suspended, ...delays } of steps) {
            Object.assign(server, delays);
            machine.setWall(wall);
            if (suspended > 0) machine.suspend(suspended);
            const before = clock.now();
            await pass(machine, some);
            expect(Math.abs(error())).toBeLessThanOrEqual(1_800);
            expect(clock.now().getTime()).toBeGreaterThanOrEqual(before.getTime());
          }
          clock.close();
        }),
        { numRuns: 50 },
      );
    });

    it("stays exact when answers take 3 s", async () => {
      const { machine, server, clock, error } = await onServer(0);
      server.before = 3_000;
      await pass(machine, MINUTE);
      expect(Math.abs(error())).toBeLessThanOrEqual(1);
      clock.close();
    });

    it("follows a server whose clock is set, or another server, within a comparison", async () => {
      const { machine, server, clock, error, comparisons } = await onServer(0);
      for (const change of [600_000, -600_000, 400]) {
        server.set(change);
        await pass(machine, COMPARISON_MILLISECONDS);
        expect(Math.abs(error())).toBeLessThanOrEqual(1);
        expect(comparisons.at(-1)?.correctedMilliseconds).toBeCloseTo(change, -1);
      }
      clock.close();
    });

    it("never goes back by a small correction", async () => {
      const { machine, server, clock, error } = await onServer(0);
      const before = clock.now();
      server.set(-400);
      await pass(machine, COMPARISON_MILLISECONDS);
      expect(clock.now().getTime()).toBeGreaterThanOrEqual(before.getTime());
      expect(Math.abs(error())).toBeLessThanOrEqual(1);
      clock.close();
    });

    it("continues while the server does not answer, also if the wall clock is set", async () => {
      const { machine, server, clock, error } = await onServer(0);
      server.answers = false;
      machine.setWall(600_000);
      await pass(machine, 10 * MINUTE);
      expect(Math.abs(error())).toBeLessThanOrEqual(1);
      expect(clock.wallAheadMilliseconds()).toBeCloseTo(600_000, -1);
      clock.close();
    });

    it("compares at once when the wall clock was set", async () => {
      const { machine, clock, comparisons } = await onServer(0);
      machine.setWall(600_000);
      clock.now();
      await vi.advanceTimersByTimeAsync(0);
      expect(comparisons).toHaveLength(4);
      expect(comparisons.at(-1)?.wallAheadMilliseconds).toBeCloseTo(600_000, -1);
      clock.close();
    });

    it("cannot be opened while the server does not answer", async () => {
      const machine = new HandMachine(START);
      const server = Object.assign(new HandServer(machine, START), { answers: false });
      await expect(openDatabaseClock(server, { machine })).rejects.toThrow("does not answer");
    });

    it("compares no more after it was closed", async () => {
      const { machine, clock, comparisons } = await onServer(0);
      clock.close();
      machine.setWall(600_000);
      clock.now();
      await pass(machine, MINUTE);
      expect(comparisons).toHaveLength(3);
    });
  });

  describe("on SQLite", () => {
    const onFile = async () => {
      const machine = new HandMachine(START);
      const clock = await openDatabaseClock({ dialect: "sqlite", sql: async () => [] }, { machine });
      return { machine, clock };
    };

    it.each([600_000, -600_000])("follows a wall clock set by %i ms at a tenth of the elapsed time", async (set) => {
      const { machine, clock } = await onFile();
      machine.setWall(set);
      let before = clock.now().getTime();
      expect(before).toBe(START);
      for (let minute = 1; minute <= 100; minute += 1) {
        await pass(machine, MINUTE);
        const passed = clock.now().getTime() - before;
        expect(passed).toBeGreaterThanOrEqual(0.899 * MINUTE);
        expect(passed).toBeLessThanOrEqual(1.101 * MINUTE);
        before += passed;
      }
      expect(clock.wallAheadMilliseconds()).toBeCloseTo(0, -2);
      clock.close();
    });

    it.each([7_200_000, -7_200_000])("follows at once a wall clock that is set by %i ms", async (set) => {
      const { machine, clock } = await onFile();
      machine.setWall(set);
      clock.now();
      await vi.advanceTimersByTimeAsync(0);
      expect(clock.now().getTime()).toBe(START + set);
      clock.close();
    });

    it("shows the wall clock's time after a suspension", async () => {
      const { machine, clock } = await onFile();
      machine.suspend(20 * MINUTE);
      expect(clock.now().getTime()).toBe(START + 20 * MINUTE);
      clock.close();
    });
  });
});
