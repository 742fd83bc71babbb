import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type CallKind, CallRateLimiter } from "../../../../../adapters/provider/remote/calls/call-rate-limiter.js";
import { HandClock } from "../../../../support/hand-clock.js";

const PATIENT = 600_000;

let clock: HandClock;
let begin: number;

beforeEach(() => {
  clock = new HandClock();
  begin = clock.now().getTime();
});

const sinceBegin = () => clock.now().getTime() - begin;

/** What becomes of each call, and when; in the order in which it was known. */
const ask = (
  pace: CallRateLimiter,
  into: [string, number][],
  name: string,
  kind: CallKind,
  patience = PATIENT,
): void => {
  void pace.turn(kind, patience).then((turn) => {
    into.push([turn.isOk() ? name : `${name}: ${turn.error}`, sinceBegin()]);
  });
};

describe("the pace of the calls", () => {
  it("is even, but for one that catches up", async () => {
    const pace = new CallRateLimiter(clock, 4);
    const starts: [string, number][] = [];
    for (const name of ["a", "b", "c", "d"]) ask(pace, starts, name, "read");
    await clock.advance(10_000);
    ask(pace, starts, "e", "read");
    ask(pace, starts, "f", "read");
    ask(pace, starts, "g", "read");
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

  it("lets creations go before reads that wait", async () => {
    const pace = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "read"]) ask(pace, starts, name, "read");
    ask(pace, starts, "creation", "creation");
    await clock.advance(2_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "creation", "read"]);
  });

  it("lets reads go as well, however many creations there are", async () => {
    const pace = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(pace, starts, name, "creation");
    for (const name of ["a", "b"]) ask(pace, starts, name, "read");
    for (const name of ["third", "fourth", "fifth"]) ask(pace, starts, name, "creation");
    await clock.advance(10_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "a", "third", "b", "fourth", "fifth"]);
  });

  it("lets nobody wait until it is that time again when the clock has been set back", async () => {
    const pace = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(pace, starts, name, "read");
    pace.pauseFor(2_000);
    clock.setBack(3_600_000);
    begin -= 3_600_000;
    expect(pace.pausedMilliseconds).toBe(2_000);
    await clock.advance(2_000);
    expect(pace.pausedMilliseconds).toBe(0);
    ask(pace, starts, "third", "read");
    await clock.advance(4_000);
    expect(starts.map(([name]) => name)).toEqual(["first", "second", "third"]);
  });

  it("starts nothing whose time is over", async () => {
    const pace = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "third"]) ask(pace, starts, name, "creation");
    ask(pace, starts, "late", "creation", 1_999);
    ask(pace, starts, "in time", "creation", 2_000);
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

describe("a provider that is too busy", () => {
  it("is left alone: creations wait for that if they can, reads are told at once", async () => {
    const pace = new CallRateLimiter(clock, 10);
    const starts: [string, number][] = [];
    pace.pauseFor(7_000);
    ask(pace, starts, "read", "read");
    ask(pace, starts, "hasty", "creation", 6_999);
    ask(pace, starts, "patient", "creation", 7_000);
    await clock.advance(6_999);
    expect(pace.pausedMilliseconds).toBe(1);
    await clock.advance(1);
    expect(starts).toEqual([
      ["read: calls to the provider are paused for 7 more seconds", 0],
      ["hasty: calls to the provider are paused for 7 more seconds", 0],
      ["patient", 7_000],
    ]);
  });

  it("turns away those who wait already", async () => {
    const pace = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second", "read"]) ask(pace, starts, name, "read");
    ask(pace, starts, "creation", "creation", 3_000);
    pace.pauseFor(5_000);
    await clock.advance(0);
    expect(starts.slice(2).map(([name]) => name.split(":")[0])).toEqual(["creation", "read"]);
  });

  /** How long `calls` calls take, after those that need not wait. */
  const millisecondsOf = async (pace: CallRateLimiter, calls: number): Promise<number> => {
    await clock.advance(60_000);
    const before = sinceBegin();
    const starts: [string, number][] = [];
    for (let n = 0; n < calls + 2; n += 1) ask(pace, starts, `${n}`, "read");
    await clock.advance(600_000);
    return (starts.at(-1)?.[1] ?? 0) - before;
  };

  it("is called half as often afterwards, however many calls were told the same at once", async () => {
    const pace = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 16; n += 1) pace.pauseFor(1_000);
    expect(await millisecondsOf(pace, 10)).toBe(2_000);
    pace.pauseFor(1_000);
    expect(await millisecondsOf(pace, 10)).toBe(4_000);
  });

  it("is called once in two seconds at least", async () => {
    const pace = new CallRateLimiter(clock, 10);
    for (let n = 0; n < 16; n += 1) {
      pace.pauseFor(1_000);
      await clock.advance(1_000);
    }
    expect(await millisecondsOf(pace, 10)).toBe(20_000);
  });

  it("is called a little more often with every answer, but never more often than before", async () => {
    const pace = new CallRateLimiter(clock, 10);
    pace.pauseFor(1_000);
    for (let n = 0; n < 150; n += 1) pace.answered();
    expect(await millisecondsOf(pace, 10)).toBeCloseTo(1_250, -1);
    for (let n = 0; n < 10_000; n += 1) pace.answered();
    expect(await millisecondsOf(pace, 10)).toBe(1_000);
  });
});

type Event =
  | { readonly kind: CallKind; readonly patience: number }
  | { readonly kind: "pass" | "leave alone"; readonly milliseconds: number }
  | { readonly kind: "answered"; readonly times: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom<CallKind>("creation", "read"),
      patience: fc.integer({ min: 0, max: 30_000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), milliseconds: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave alone" as const), milliseconds: fc.nat(10_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("answered" as const), times: fc.nat(100) }) },
);

it("keeps to its pace, to every pause and to everybody's time, and answers everybody, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.array(event, { maxLength: 80 }), async (perSecond, events) => {
      const clock = new HandClock();
      const pace = new CallRateLimiter(clock, perSecond);
      const now = () => clock.now().getTime();
      const starts: { readonly at: number; readonly latest: number; readonly pausedUntil: number }[] = [];
      let pausedUntil = 0;
      let unanswered = 0;
      for (const event of events) {
        switch (event.kind) {
          case "pass":
            await clock.advance(event.milliseconds);
            break;
          case "leave alone":
            pace.pauseFor(event.milliseconds);
            pausedUntil = Math.max(pausedUntil, now() + event.milliseconds);
            break;
          case "answered":
            for (let n = 0; n < event.times; n += 1) pace.answered();
            break;
          default: {
            const latest = now() + event.patience;
            unanswered += 1;
            void pace.turn(event.kind, event.patience).then((turn) => {
              unanswered -= 1;
              if (turn.isOk()) starts.push({ at: now(), latest, pausedUntil });
            });
            // A start is noted before anything else happens.
            await clock.advance(0);
          }
        }
      }
      await clock.advance(600_000);
      expect(unanswered).toBe(0);
      for (const { at, latest, pausedUntil } of starts) {
        expect(at).toBeLessThanOrEqual(latest);
        expect(at).toBeGreaterThanOrEqual(pausedUntil);
        const withinOneSecond = starts.filter((other) => other.at >= at && other.at < at + 1_000);
        expect(withinOneSecond.length).toBeLessThanOrEqual(perSecond + 1);
      }
    }),
  );
});
