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
  void limiter.turn(kind, waitMillisecondsMax).then((turn) => {
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

  it("rejects calls whose waiting time is over", async () => {
    const limiter = new CallRateLimiter(clock, 1);
    const starts: [string, number][] = [];
    for (const name of ["first", "second"]) ask(limiter, starts, name, "creation");
    ask(limiter, starts, "late", "creation", 1_999);
    ask(limiter, starts, "in time", "creation", 2_000);
    await clock.advance(10_000);
    expect(starts).toEqual([
      ["first", 0],
      ["second", 1_000],
      ["late: too many calls to the provider are waiting", 2_000],
      ["in time", 2_000],
    ]);
  });
});

describe("CallRateLimiter when the provider is too busy", () => {
  it("immediately rejects reads, and creations that cannot wait for the end of the pause", async () => {
    const limiter = new CallRateLimiter(clock, 10);
    const starts: [string, number][] = [];
    limiter.answered("read", 7_000);
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
    for (const name of ["first", "read"]) ask(limiter, starts, name, "read");
    ask(limiter, starts, "creation", "creation", 3_000);
    limiter.answered("read", 5_000);
    await clock.advance(0);
    expect(starts.slice(1).map(([name]) => name.split(":")[0])).toEqual(["creation", "read"]);
  });

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
