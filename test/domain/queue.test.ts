import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freeSlots, mustQueue, nextTurn, type Queue } from "../../domain/queue.js";

const queue = (differences: Partial<Queue> = {}): Queue => ({ running: 0, waiting: false, round: 1, ...differences });

describe("the queue of a provider", () => {
  it("queues a new task if no slot is free or any task waits", () => {
    expect(mustQueue(queue({ running: 1 }), 2)).toBe(false);
    expect(mustQueue(queue({ running: 2 }), 2)).toBe(true);
    expect(mustQueue(queue({ running: 0, waiting: true }), 2)).toBe(true);
  });

  it("has as many free slots as the limit minus the running tasks", () => {
    expect(freeSlots(queue({ running: 3 }), 5, 16)).toBe(2);
    expect(freeSlots(queue({ running: 0 }), 5, 1)).toBe(1);
    expect(freeSlots(queue({ running: 7 }), 5, 16)).toBe(0); // the operator has lowered the limit
  });

  it("gives a new account the current round as its turn, and a waiting account the round after its last turn", () => {
    expect(nextTurn(queue({ round: 4 }), 0)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 2)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 4)).toBe(5);
    expect(nextTurn(queue({ round: 4 }), 6)).toBe(7);
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

  it("serves one task of each account per round, also if an account has many tasks", () => {
    const slots = Array.from({ length: 9 }, () => -1);
    const order = serve([1, 1, 1, 1, 1, 2, 2, 3, ...slots]).map(({ account }) => account);
    expect(order).toEqual([1, 2, 3, 1, 2, 1, 1, 1]);
  });

  it("serves a new account before the second tasks of the others", () => {
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
