import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type CallKind, CallRateLimiter } from "../../../../../adapters/provider/remote/calls/call-rate-limiter.js";
import { HandClock } from "../../../../support/hand-clock.js";

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
  void limiter.turn(kind, waitMillisecondsMax).then((turn) => {
    into.push([turn.isOk() ? name : `${name}: ${turn.error}`, sinceBegin()]);
  });
};

describe("CallRateLimiter", () => {
  it("spreads calls evenly, with one extra call to catch up", async () => {
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
      ["b", 0],
      ["c", 250],
      ["d", 500],
      ["e", 10_000],
      ["f", 10_000],
      ["g", 10_250],
    ]);
  });

  it("starts creations before waiting reads", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "read"]) ask(limiter, starts, name, "read");
    ask(limiter, starts, "creation", "creation");
    await clock.advance(2_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "creation", "read"]);
  });

  it("alternates waiting creations and reads", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(limiter, starts, name, "creation");
    for (const name of ["a", "b"]) ask(limiter, starts, name, "read");
    for (const name of ["third", "fourth", "fifth"]) ask(limiter, starts, name, "creation");
    await clock.advance(10_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "a", "third", "b", "fourth", "fifth"]);
  });

  it("does not delay calls when the clock has been set back", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(limiter, starts, name, "read");
    limiter.pauseFor(2_000);
    clock.setBack(3_600_000);
    begin -= 3_600_000;
    expect(limiter.pausedMilliseconds).toBe(2_000);
    await clock.advance(2_000);
    expect(limiter.pausedMilliseconds).toBe(0);
    ask(limiter, starts, "third", "read");
    await clock.advance(4_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "third"]);
  });

  it("rejects calls whose waiting time is over", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "third"]) ask(limiter, starts, name, "creation");
    ask(limiter, starts, "late", "creation", 1_999);
    ask(limiter, starts, "in time", "creation", 2_000);
    await clock.advance(10_000);
    expect(starts).toEqual([
      ["first", 0],
      ["second", 0],
      ["third", 1_000],
      ["late: too many calls to the provider are waiting", 2_000],
      ["in time", 2_000],
    ]);
  });
});

describe("CallRateLimiter after pauseFor", () => {
  it("immediately rejects reads, and creations that cannot wait for the end of the pause", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    const starts: [string, number][] = [];
    limiter.pauseFor(7_000);
    ask(limiter, starts, "read", "read");
    ask(limiter, starts, "short wait", "creation", 6_999);
    ask(limiter, starts, "long wait", "creation", 7_000);
    await clock.advance(6_999);
    expect(limiter.pausedMilliseconds).toBe(1);
    await clock.advance(1);
    expect(starts).toEqual([
      ["read: calls to the provider are paused for 7 more seconds", 0],
      ["short wait: calls to the provider are paused for 7 more seconds", 0],
      ["long wait", 7_000],
    ]);
  });

  it("also rejects calls that are already waiting", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "read"]) ask(limiter, starts, name, "read");
    ask(limiter, starts, "creation", "creation", 3_000);
    limiter.pauseFor(5_000);
    await clock.advance(0);
    expect(starts.slice(2).map(([name]) => name.split(":")[0])).toEqual(["creation", "read"]);
  });

  /** How long `calls` calls take after the ones that start without waiting. */
  const millisecondsOf = async (limiter: CallRateLimiter, calls: number): Promise<number> => {
    await clock.advance(60_000);
    const before = sinceBegin();
    const starts: [string, number][] = [];
    for (let n = 0; n < calls + 2; n += 1) ask(limiter, starts, `${n}`, "read");
    await clock.advance(600_000);
    return (starts.at(-1)?.[1] ?? 0) - before;
  };

  it("halves the rate once per pause, also when several calls report it", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 16; n += 1) limiter.pauseFor(1_000);
    expect(await millisecondsOf(limiter, 10)).toBe(2_000);
    limiter.pauseFor(1_000);
    expect(await millisecondsOf(limiter, 10)).toBe(4_000);
  });

  it("never goes below one call in two seconds", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 16; n += 1) {
      limiter.pauseFor(1_000);
      await clock.advance(1_000);
    }
    expect(await millisecondsOf(limiter, 10)).toBe(20_000);
  });

  it("raises the rate a little with every answer, up to the maximum", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    limiter.pauseFor(1_000);
    for (let n = 0; n < 150; n += 1) limiter.answered();
    expect(await millisecondsOf(limiter, 10)).toBeCloseTo(1_250, -1);
    for (let n = 0; n < 10_000; n += 1) limiter.answered();
    expect(await millisecondsOf(limiter, 10)).toBe(1_000);
  });
});

type Event =
  | { readonly kind: CallKind; readonly waitMillisecondsMax: number }
  | { readonly kind: "pass" | "pause"; readonly milliseconds: number }
  | { readonly kind: "answered"; readonly times: number };

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
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("answered" as const), times: fc.nat(100) }) },
);

it("CallRateLimiter respects the rate, every pause and every waiting time, and settles every turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.array(event, { maxLength: 80 }), async (perSecond, events) => {
      const clock = new HandClock();
      const limiter = new CallRateLimiter(clock, perSecond);
      const now = () => clock.now().getTime();
      const starts: { readonly at: number; readonly latest: number; readonly pausedUntil: number }[] = [];
      let pausedUntil = 0;
      let unsettled = 0;
      for (const event of events) {
        switch (event.kind) {
          case "pass":
            await clock.advance(event.milliseconds);
            break;
          case "pause":
            limiter.pauseFor(event.milliseconds);
            pausedUntil = Math.max(pausedUntil, now() + event.milliseconds);
            break;
          case "answered":
            for (let n = 0; n < event.times; n += 1) limiter.answered();
            break;
          default: {
            const latest = now() + event.waitMillisecondsMax;
            unsettled += 1;
            void limiter.turn(event.kind, event.waitMillisecondsMax).then((turn) => {
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
        const withinOneSecond = starts.filter((other) => other.at >= at && other.at < at + 1_000);
        expect(withinOneSecond.length).toBeLessThanOrEqual(perSecond + 1);
      }
    }),
  );
});
