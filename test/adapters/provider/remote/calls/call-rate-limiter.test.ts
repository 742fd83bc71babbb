import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { type CallKind, CallRateLimiter } from "../../../../../adapters/provider/remote/calls/call-rate-limiter.js";

const LONG_WAIT_MILLISECONDS = 600_000;

let clock: HandClock;
let begin: number;

beforeEach(() => {
  clock = new HandClock();
  begin = clock.now().getTime();
});

const sinceBegin = () => clock.now().getTime() - begin;

/** Requests a turn and records its outcome and time in `into`. */
const ask = (
  limiter: CallRateLimiter,
  into: [string, number][],
  name: string,
  kind: CallKind,
  waitMillisecondsMax = LONG_WAIT_MILLISECONDS,
): void => {
  void limiter.slot(kind, waitMillisecondsMax).then((turn) => {
    into.push([turn.isOk() ? name : `${name}: ${turn.error}`, sinceBegin()]);
  });
};

describe("CallRateLimiter", () => {
  it("spreads calls evenly, and none starts earlier to catch up", async () => {
    const limiter = new CallRateLimiter(clock, 4);
    const starts: [string, number][] = [];
    for (const name of ["a", "b", "c", "d"]) ask(limiter, starts, name, "read");
    await clock.advance(10_000);
    ask(limiter, starts, "e", "read");
    ask(limiter, starts, "f", "read");
    ask(limiter, starts, "g", "read");
    await clock.advance(10_000);
    expect(starts).toEqual([
      ["a", 0],
      ["b", 250],
      ["c", 500],
      ["d", 750],
      ["e", 10_000],
      ["f", 10_250],
      ["g", 10_500],
    ]);
  });

  it("starts creations before waiting reads", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "read"]) ask(limiter, starts, name, "read");
    ask(limiter, starts, "creation", "creation");
    await clock.advance(2_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "creation", "read"]);
  });

  it("alternates waiting creations and reads", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(limiter, starts, name, "creation");
    for (const name of ["a", "b"]) ask(limiter, starts, name, "read");
    for (const name of ["third", "fourth", "fifth"]) ask(limiter, starts, name, "creation");
    await clock.advance(10_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "a", "second", "b", "third", "fourth", "fifth"]);
  });

  it("does not delay calls when the clock has been set back", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    ask(limiter, starts, "first", "read");
    limiter.answered("read", 2_000);
    clock.setBack(3_600_000);
    begin -= 3_600_000;
    expect(limiter.pausedMilliseconds).toBe(2_000);
    await clock.advance(2_000);
    expect(limiter.pausedMilliseconds).toBe(0);
    ask(limiter, starts, "second", "read");
    await clock.advance(4_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second"]);
  });
});

describe("CallRateLimiter when the provider is too busy", () => {
  it("keeps its rate after a refused creation, and pauses after three in a row", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    for (const refused of [true, true, false, true, true]) limiter.answered("creation", refused ? 1_000 : undefined);
    for (let n = 0; n < 16; n += 1) limiter.answered("read");
    expect(limiter.pausedMilliseconds).toBe(0);
    expect(await millisecondsOf(limiter, 10)).toBe(1_000);
    limiter.answered("creation", 1_000);
    expect(limiter.pausedMilliseconds).toBe(1_000);
  });

  /** How long `calls` calls take after the first one. */
  const millisecondsOf = async (limiter: CallRateLimiter, calls: number): Promise<number> => {
    const starts: [string, number][] = [];
    for (let n = 0; n <= calls; n += 1) ask(limiter, starts, `${n}`, "creation");
    await clock.advance(60_000);
    return (starts.at(-1)?.[1] ?? 0) - (starts[0]?.[1] ?? 0);
  };

  it("reduces the rate once per pause, also when several calls report it", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 16; n += 1) limiter.answered("read", 1_000);
    await clock.advance(1_000);
    expect(await millisecondsOf(limiter, 7)).toBeCloseTo(1_000, -1);
  });

  it("returns to the maximum rate 30 seconds after the last of many pauses", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 50; n += 1) {
      limiter.answered("read", 1_000);
      await clock.advance(1_000);
    }
    const starts: [string, number][] = [];
    for (let n = 0; n < 500; n += 1) ask(limiter, starts, `${n}`, "read");
    await clock.advance(60_000);
    const startedBetween = (from: number, to: number) =>
      starts.filter(([, at]) => at >= 50_000 + from && at < 50_000 + to).length;
    expect(startedBetween(0, 10_000)).toBeLessThan(5);
    expect(startedBetween(30_000, 40_000)).toBe(100);
  });

  it("does not wait for a slow rate when the rate has risen in the meantime", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    for (let n = 0; n < 50; n += 1) {
      limiter.answered("read", 1_000);
      await clock.advance(1_000);
    }
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "third"]) ask(limiter, starts, name, "creation");
    await clock.advance(60_000);
    expect(starts[1]?.[1]).toBeLessThan(50_000 + 20_000);
    expect(starts[2]?.[1]).toBeLessThan(50_000 + 30_000);
  });
});

/** The largest number of calls within 999 milliseconds: timers are exact to one. */
const mostInASecond = (arrivals: readonly number[]): number =>
  Math.max(0, ...arrivals.map((at, n) => arrivals.slice(n, n + 200).filter((other) => other < at + 999).length));

type Event =
  | { readonly kind: CallKind; readonly waitMillisecondsMax: number }
  | { readonly kind: "pass" | "pause"; readonly milliseconds: number }
  | { readonly kind: "answered creation"; readonly pauseMilliseconds: number | undefined };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom<CallKind>("creation", "read"),
      waitMillisecondsMax: fc.integer({ min: 0, max: 30_000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), milliseconds: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const), milliseconds: fc.nat(10_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("answered creation" as const),
      pauseMilliseconds: fc.option(fc.nat(10_000), { nil: undefined, freq: 4 }),
    }),
  },
);

it("CallRateLimiter respects the rate, every pause and every waiting time, and settles every turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.array(event, { maxLength: 80 }), async (perSecond, events) => {
      const clock = new HandClock();
      const limiter = new CallRateLimiter(clock, perSecond);
      const now = () => clock.now().getTime();
      const starts: { readonly at: number; readonly latest: number; readonly pausedUntil: number }[] = [];
      let pausedUntil = 0;
      let refusedInARow = 0;
      let unsettled = 0;
      for (const event of events) {
        switch (event.kind) {
          case "pass":
            await clock.advance(event.milliseconds);
            break;
          case "pause":
            limiter.answered("read", event.milliseconds);
            pausedUntil = Math.max(pausedUntil, now() + event.milliseconds);
            break;
          case "answered creation": {
            const { pauseMilliseconds } = event;
            limiter.answered("creation", pauseMilliseconds);
            refusedInARow = pauseMilliseconds === undefined ? 0 : refusedInARow + 1;
            if (refusedInARow >= 3) pausedUntil = Math.max(pausedUntil, now() + (pauseMilliseconds ?? 0));
            break;
          }
          default: {
            const latest = now() + event.waitMillisecondsMax;
            unsettled += 1;
            void limiter.slot(event.kind, event.waitMillisecondsMax).then((turn) => {
              unsettled -= 1;
              if (turn.isOk()) starts.push({ at: now(), latest, pausedUntil });
            });
            // Lets a turn that resolves at once be recorded first.
            await clock.advance(0);
          }
        }
      }
      await clock.advance(600_000);
      expect(unsettled).toBe(0);
      for (const { at, latest, pausedUntil } of starts) {
        expect(at).toBeLessThanOrEqual(latest);
        expect(at).toBeGreaterThanOrEqual(pausedUntil);
      }
      expect(mostInASecond(starts.map(({ at }) => at))).toBeLessThanOrEqual(perSecond);
    }),
  );
});
