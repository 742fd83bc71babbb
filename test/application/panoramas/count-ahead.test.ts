import { describe, expect, it } from "vitest";
import {
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
} from "../../../adapters/contracts/support/builders.js";
import { countAhead } from "../../../application/panoramas/forecast-task.js";

describe("countAhead", () => {
  const behind = (others: number) =>
    countAhead({ tasks: { countAhead: async (_task, max) => Math.min(others, max) } })(aQueuedTask());

  it("counts up to 100 tasks before a waiting one, and more as 101", async () => {
    expect([await behind(0), await behind(100), await behind(101), await behind(5_000)]).toEqual([0, 100, 101, 101]);
  });

  it("does not read the store for a task outside the queue", async () => {
    const count = countAhead({ tasks: { countAhead: () => Promise.reject(new Error("not queued")) } });
    const others = [aSubmittingTask(), aSubmittedTask(), aSucceededTask()];
    expect(await Promise.all(others.map(count))).toEqual([undefined, undefined, undefined]);
  });
});
