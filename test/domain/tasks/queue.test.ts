import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aPlace, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import {
  estimatedMilliseconds,
  freeSlots,
  longestPauseFrom,
  nextTurn,
  placeOfNewTask,
  type Queue,
  type QueuePace,
  shortestWaitMilliseconds,
  slotsOf,
} from "../../../domain/tasks/queue.js";

const queue = (differences: Partial<Queue> = {}): Queue => ({
  running: new Map(),
  waiting: 0,
  round: 1,
  ...differences,
});

describe("the queue of a provider", () => {
  const at = (running: Record<string, number>) => new Map<string | undefined, number>(Object.entries(running));

  it("starts a new task at the first place with a free slot, unless any task waits", () => {
    const places = [aPlace(2, "a"), aPlace(1, "b")];
    const placeOf = (differences: Partial<Queue>) => placeOfNewTask(queue(differences), places)?.name;
    expect(placeOf({ running: at({ a: 1, b: 1 }) })).toBe("a");
    expect(placeOf({ running: at({ a: 2 }) })).toBe("b");
    expect(placeOf({ running: at({ a: 2, b: 1 }) })).toBeUndefined();
    expect(placeOf({ waiting: 1 })).toBeUndefined();
    expect(placeOfNewTask(queue({ running: at({ a: 99 }) }), [aPlace(undefined, "a")])?.name).toBe("a");
    expect(placeOfNewTask(queue({ waiting: 1 }), [aPlace(undefined, "a")])).toBeUndefined();
    expect(placeOfNewTask(queue(), [])).toBeUndefined();
  });

  it("counts free slots per place as limit minus running tasks", () => {
    const places = [aPlace(5, "a"), aPlace(2, "b"), aPlace(undefined, "c")];
    const free = (running: Queue["running"]) => freeSlots({ running }, places);
    expect(free(at({ a: 3, b: 2, c: 9 }))).toEqual([2, 0, Number.POSITIVE_INFINITY]);
    expect(free(at({ a: 7, removed: 4 }))).toEqual([0, 2, Number.POSITIVE_INFINITY]); // the operator has lowered a limit
    expect(free(at({ b: 1 }).set(undefined, 4))).toEqual([1, 1, Number.POSITIVE_INFINITY]);
  });

  it("expects no start after a pause of more than a minute", () => {
    expect(longestPauseFrom(noon)).toEqual(secondsAfter(noon, 60));
  });

  it("slotsOf sums the limits; undefined if one place is unlimited", () => {
    expect(slotsOf([aPlace(5, "a"), aPlace(2, "b")])).toBe(7);
    expect(slotsOf([aPlace(5, "a"), aPlace(undefined, "b")])).toBeUndefined();
  });

  it("gives a new account the current round as its turn, and a waiting account the round after its last turn", () => {
    expect(nextTurn(queue({ round: 4 }), 0)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 2)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 4)).toBe(5);
    expect(nextTurn(queue({ round: 4 }), 6)).toBe(7);
  });

  const pace = (differences: Partial<QueuePace> = {}): QueuePace => ({
    concurrencyMax: undefined,
    generationMilliseconds: undefined,
    callsPerSecond: undefined,
    ...differences,
  });

  it("shortestWaitMilliseconds is 0 without data about the provider", () => {
    expect(shortestWaitMilliseconds(10_000, pace())).toBe(0);
    expect(shortestWaitMilliseconds(10_000, pace({ concurrencyMax: 1 }))).toBe(0);
    expect(shortestWaitMilliseconds(10_000, pace({ generationMilliseconds: 30_000 }))).toBe(0);
  });

  it("waits for a generation per group of tasks that have slots, and for a call per task", () => {
    const slots = pace({ concurrencyMax: 2, generationMilliseconds: 30_000 });
    expect(shortestWaitMilliseconds(1, slots)).toBe(0);
    expect(shortestWaitMilliseconds(2, slots)).toBe(30_000);
    expect(shortestWaitMilliseconds(5, slots)).toBe(60_000);
    expect(shortestWaitMilliseconds(5, pace({ callsPerSecond: 10 }))).toBe(500);
    expect(shortestWaitMilliseconds(5, { ...slots, callsPerSecond: 0.01 })).toBe(500_000);
  });

  it("estimates nothing without knowledge about generations, or without a slot", () => {
    expect(estimatedMilliseconds(3, pace({ concurrencyMax: 2, callsPerSecond: 10 }))).toBeUndefined();
    expect(estimatedMilliseconds(3, pace({ concurrencyMax: 0, generationMilliseconds: 30_000 }))).toBeUndefined();
  });

  it("estimates the longer wait for a slot or for the calls before it, plus the generation", () => {
    const slots = pace({ concurrencyMax: 2, generationMilliseconds: 30_000 });
    expect(estimatedMilliseconds(0, slots)).toBe(45_000);
    expect(estimatedMilliseconds(5, slots)).toBe(120_000);
    expect(estimatedMilliseconds(5, { ...slots, callsPerSecond: 0.01 })).toBe(630_000);
    expect(estimatedMilliseconds(5, pace({ generationMilliseconds: 30_000 }))).toBe(30_000);
  });

  it("estimates between the best and the worst simulated wait", () => {
    const counts = fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 60 }));
    return fc.assert(
      fc.property(counts, ([ahead, slots, seconds]) => {
        const generation = seconds * 1000;
        const known = pace({ concurrencyMax: slots, generationMilliseconds: generation });
        // All slots have just been taken; each runs one generation after the other.
        const waited = Math.ceil((ahead + 1) / slots) * generation;
        const shortest = shortestWaitMilliseconds(ahead, known);
        expect(shortest).toBeLessThanOrEqual(waited);
        const estimated = estimatedMilliseconds(ahead, known) ?? 0;
        expect(estimated).toBeGreaterThanOrEqual(shortest + generation);
        expect(estimated).toBeLessThanOrEqual(waited + generation);
      }),
    );
  });

  type Waiting = { readonly account: number; readonly turn: number; readonly number: number };

  /** Returns the accounts in the order of service. A number adds a task of that account; -1 frees one slot. */
  const serve = (events: readonly number[]) => {
    const lastTurns = new Map<number, number>();
    const waiting: Waiting[] = [];
    const services: { readonly account: number; readonly waitedFor: ReadonlySet<number> }[] = [];
    let round = 1;
    for (const [number, account] of events.entries()) {
      if (account >= 0) {
        const turn = nextTurn(queue({ round }), lastTurns.get(account) ?? 0);
        lastTurns.set(account, turn);
        waiting.push({ account, turn, number });
        continue;
      }
      waiting.sort((a, b) => a.turn - b.turn || a.number - b.number);
      const waitedFor = new Set(waiting.map((task) => task.account));
      const first = waiting.shift();
      if (first === undefined) continue;
      expect(first.turn).toBeGreaterThanOrEqual(round);
      round = first.turn;
      services.push({ account: first.account, waitedFor });
    }
    return services;
  };

  it("serves one task of each account per round, and a new account before the second tasks of the others", () => {
    const slots = Array.from({ length: 9 }, () => -1);
    const order = serve([1, 1, 1, 1, 1, 2, 2, 3, ...slots]).map(({ account }) => account);
    expect(order).toEqual([1, 2, 3, 1, 2, 1, 1, 1]);
    expect(serve([1, 1, 1, -1, 2, -1, -1, -1]).map(({ account }) => account)).toEqual([1, 2, 1, 1]);
  });

  it("serves no account more than twice while another one waits, in every order of arrival", () => {
    return fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 200 }), (events) => {
        const services = serve(events);
        for (let waiting = 0; waiting <= 3; waiting += 1) {
          let servedBefore = new Map<number, number>();
          for (const { account, waitedFor } of services) {
            if (account === waiting || !waitedFor.has(waiting)) servedBefore = new Map();
            else servedBefore.set(account, (servedBefore.get(account) ?? 0) + 1);
            expect(Math.max(0, ...servedBefore.values())).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });
});
