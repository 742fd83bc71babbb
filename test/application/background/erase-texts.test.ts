import { describe, expect, it } from "vitest";
import { noon } from "../../../adapters/contracts/support/builders.js";
import { eraseTexts } from "../../../application/background/erase.js";
import { TEXTS_KEPT_MILLISECONDS } from "../../../domain/tasks/task-texts.js";

describe("eraseTexts", () => {
  const clock = { now: () => noon };
  const storeWith = (tasks: number) => {
    const calls: { before: Date; limit: number }[] = [];
    let left = tasks;
    const erase = async (before: Date, limit: number) => {
      calls.push({ before, limit });
      const erased = Math.min(left, limit);
      left -= erased;
      return erased;
    };
    return { calls, left: () => left, tasks: { eraseTexts: erase } };
  };

  it("erases texts older than a week, in several statements", async () => {
    const store = storeWith(250);
    expect(await eraseTexts({ ...store, clock })()).toBe(250);
    const before = new Date(noon.getTime() - 7 * 24 * 60 * 60 * 1000);
    expect(before).toEqual(new Date(noon.getTime() - TEXTS_KEPT_MILLISECONDS));
    expect(store.calls).toEqual([1, 2, 3].map(() => ({ before, limit: 100 })));
  });

  it("stops after 50 statements and continues in the next run", async () => {
    const store = storeWith(1_000_000);
    expect(await eraseTexts({ ...store, clock })()).toBe(5_000);
    expect(store.left()).toBe(995_000);
  });

  it("stops when the signal is aborted", async () => {
    const store = storeWith(250);
    expect(await eraseTexts({ ...store, clock })(AbortSignal.abort())).toBe(0);
    expect(store.calls).toEqual([]);
  });
});
