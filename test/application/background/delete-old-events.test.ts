import { describe, expect, it } from "vitest";
import { deleteOldEvents } from "../../../application/background/erase.js";
import { aWorld, type World } from "../../support/world.js";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

describe("deleteOldEvents", () => {
  const world = aWorld();
  const thousands = (stopping?: AbortController) => {
    const counts = [1_000, 1_000, 7];
    const calls: [Date, number][] = [];
    const brought: [Date, Date][] = [];
    const deliveries = Object.assign(Object.create(world.deliveries) as World["deliveries"], {
      bringForward: async (...bounds: [Date, Date]) => void brought.push(bounds),
      deleteEvents: async (...call: [Date, number]) => {
        calls.push(call);
        if (calls.length === 2) stopping?.abort();
        return counts.shift() ?? 0;
      },
    });
    const run = (signal?: AbortSignal) => deleteOldEvents({ ...world, deliveries }, signal);
    return { calls, brought, run };
  };
  const daysAgo = (days: number) => new Date(world.clock.now().getTime() - days * DAY_MILLISECONDS);

  it("deletes 1,000 events per statement until none is left", async () => {
    const { calls, brought, run } = thousands();
    expect(await run()).toBe(2_007);
    expect(calls).toEqual(Array(3).fill([daysAgo(30), 1_000]));
    const latest = new Date(world.clock.now().getTime() + DAY_MILLISECONDS / 4 + 60_000);
    expect(brought).toEqual([[latest, world.clock.now()]]);
  });

  it("stops after the current statement when the service stops", async () => {
    const stopping = new AbortController();
    const { calls, run } = thousands(stopping);
    expect(await run(stopping.signal)).toBe(2_000);
    expect(calls).toHaveLength(2);
  });
});
