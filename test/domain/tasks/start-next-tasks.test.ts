import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  aPlace,
  aQueuedTask,
  limitedTo,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { type ProviderPlace, type Queue, startNextTasks } from "../../../domain/tasks/queue.js";
import { start } from "../../../domain/tasks/task.js";

const running = (tasks: Record<string, number>) => new Map<string | undefined, number>(Object.entries(tasks));

describe("startNextTasks", () => {
  const queue: Queue = { running: running({ only: 3 }), waiting: 3, round: 4 };
  const next = [
    aQueuedTask({ id: taskId(1), turn: 4 }),
    aQueuedTask({ id: taskId(2), turn: 5 }),
    aQueuedTask({ id: taskId(3), turn: 6 }),
  ];
  const started = next.map((task) => start(task, "only"));

  it.each([
    ["the first tasks until no slot is free", 5, 16, { tasks: started.slice(0, 2), round: 5, hasRoom: false }],
    ["all given tasks if more slots are free", 99, 16, { tasks: started, round: 6, hasRoom: true }],
    ["all given tasks without a limit of the provider", undefined, 16, { tasks: started, round: 6, hasRoom: true }],
    ["no more than the limit", undefined, 1, { tasks: started.slice(0, 1), round: 4, hasRoom: false }],
  ])("starts %s, and moves the round to the last one's turn", (_, slots, limit, expected) => {
    expect(startNextTasks(queue, next, limitedTo(slots), limit)).toEqual(expected);
  });

  it("starts tasks of earlier rounds, which have returned to the queue, without going back to their round", () => {
    const returned = aQueuedTask({ id: taskId(9), turn: 2, submissions: 1 });
    expect(startNextTasks(queue, [returned], limitedTo(5), 16)).toMatchObject({
      tasks: [start(returned, "only")],
      round: 4,
    });
  });

  it("starts nothing and keeps the round when no slot is free, no place takes tasks or no task waits", () => {
    const nothing = { tasks: [], round: 4, hasRoom: false };
    expect(startNextTasks(queue, next, limitedTo(3), 16)).toEqual(nothing);
    expect(startNextTasks({ ...queue, running: running({ only: 7 }) }, next, limitedTo(5), 16)).toEqual(nothing);
    expect(startNextTasks(queue, next, [], 16)).toEqual(nothing);
    expect(startNextTasks(queue, [], limitedTo(5), 16)).toEqual({ ...nothing, hasRoom: true });
  });

  describe("with several places", () => {
    const KINDS = ["a lake", "a forest", "a city"] as const;
    type Kind = (typeof KINDS)[number];
    const kindOf = (request: { readonly prompt: string | undefined }) => request.prompt as Kind;
    const place = fc.record({
      concurrencyMax: fc.option(fc.nat(3), { nil: undefined }),
      kinds: fc.subarray([...KINDS]),
      running: fc.nat(4),
    });
    const waiting = fc.record({ kind: fc.constantFrom(...KINDS), turns: fc.nat(1) });

    /** Numbers the places and the tasks; each task has the turn of the one before or the next. */
    const situation = fc
      .record({
        places: fc.array(place, { maxLength: 3 }),
        tasks: fc.array(waiting, { maxLength: 12 }),
        limit: fc.nat(12),
      })
      .map(({ places, tasks, limit }) => {
        let turn = 1;
        return {
          limit,
          queue: {
            running: running(Object.fromEntries(places.map((one, n) => [`place-${n}`, one.running]))),
            waiting: tasks.length,
            round: 1,
          },
          places: places.map(
            ({ concurrencyMax, kinds }, n): ProviderPlace => ({
              ...aPlace(concurrencyMax, `place-${n}`),
              canMake: (request) => kinds.includes(kindOf(request)),
            }),
          ),
          next: tasks.map(({ kind, turns }, n) => {
            turn += turns;
            return aQueuedTask({ id: taskId(n + 1), turn, request: aCreationRequest({ prompt: kind }) });
          }),
        };
      });

    it("gives each place the longest waiting tasks that it can make, up to its own limit", () => {
      return fc.assert(
        fc.property(situation, ({ queue, next, places, limit }) => {
          const { tasks } = startNextTasks(queue, next, places, limit);
          expect(tasks.length).toBeLessThanOrEqual(limit);
          const startedIds = new Set(tasks.map(({ id }) => id));
          for (const { name, concurrencyMax = Number.POSITIVE_INFINITY, canMake } of places) {
            const there = tasks.filter((task) => task.place === name);
            expect(there.every(({ request }) => canMake(request))).toBe(true);
            const free = Math.max(0, concurrencyMax - (queue.running.get(name) ?? 0));
            expect(there.length).toBeLessThanOrEqual(free);
            const last = there.at(-1)?.id ?? "";
            const before = next.filter(({ id, request }) => id < last && canMake(request));
            expect(before.every(({ id }) => startedIds.has(id))).toBe(true);
          }
        }),
      );
    });

    it("starts every task whose place has a free slot, regardless of tasks ahead", () => {
      return fc.assert(
        fc.property(situation, ({ queue, next, places }) => {
          const { tasks, hasRoom } = startNextTasks(queue, next, places, next.length + 1);
          const startedIds = new Set(tasks.map(({ id }) => id));
          const free = places.filter(({ name, concurrencyMax = Number.POSITIVE_INFINITY }) => {
            const there = tasks.filter((task) => task.place === name).length;
            return (queue.running.get(name) ?? 0) + there < concurrencyMax;
          });
          expect(hasRoom).toBe(free.length > 0);
          const left = next.filter(({ id }) => !startedIds.has(id));
          expect(left.filter(({ request }) => free.some(({ canMake }) => canMake(request)))).toEqual([]);
        }),
      );
    });
  });
});
