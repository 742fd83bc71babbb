import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freeSlots, mustQueue, nextTurn, type Queue } from "../../domain/queue.js";

const queue = (differences: Partial<Queue> = {}): Queue => ({ running: 0, waiting: false, round: 1, ...differences });

describe("the queue in front of a provider", () => {
  it("lets a task through while there is a free place and nobody waits", () => {
    expect(mustQueue(queue({ running: 1 }), 2)).toBe(false);
    expect(mustQueue(queue({ running: 2 }), 2)).toBe(true);
    expect(mustQueue(queue({ running: 0, waiting: true }), 2)).toBe(true);
  });

  it("has as many free places as are not taken", () => {
    expect(freeSlots(queue({ running: 3 }), 5, 16)).toBe(2);
    expect(freeSlots(queue({ running: 0 }), 5, 1)).toBe(1);
    expect(freeSlots(queue({ running: 7 }), 5, 16)).toBe(0); // the operator has lowered the limit
  });

  it("gives an account that comes anew the turn that is being served, and one that waits already the next", () => {
    expect(nextTurn(queue({ round: 4 }), 0)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 2)).toBe(4);
    expect(nextTurn(queue({ round: 4 }), 4)).toBe(5);
    expect(nextTurn(queue({ round: 4 }), 6)).toBe(7);
  });

  type Waiting = { readonly account: number; readonly turn: number; readonly number: number };

  /** The accounts in the order in which they were served; a number stands for a task of that account, -1 for a place. */
  const serve = (story: readonly number[]) => {
    const lastTurns = new Map<number, number>();
    const waiting: Waiting[] = [];
    const services: { readonly account: number; readonly waitedFor: ReadonlySet<number> }[] = [];
    let round = 1;
    for (const [number, account] of story.entries()) {
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

  it("serves one task of each account in turn, however many an account has brought at once", () => {
    const places = Array.from({ length: 9 }, () => -1);
    const order = serve([1, 1, 1, 1, 1, 2, 2, 3, ...places]).map(({ account }) => account);
    expect(order).toEqual([1, 2, 3, 1, 2, 1, 1, 1]);
  });

  it("lets an account that comes late in before the others' second tasks", () => {
    expect(serve([1, 1, 1, -1, 2, -1, -1, -1]).map(({ account }) => account)).toEqual([1, 2, 1, 1]);
  });

  it("serves no account more than twice while another one waits, whoever comes when", () => {
    return fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 200 }), (story) => {
        const services = serve(story);
        for (let patient = 0; patient <= 3; patient += 1) {
          let overtaken = new Map<number, number>();
          for (const { account, waitedFor } of services) {
            if (account === patient || !waitedFor.has(patient)) overtaken = new Map();
            else overtaken.set(account, (overtaken.get(account) ?? 0) + 1);
            expect(Math.max(0, ...overtaken.values())).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });
});
