import { describe, expect, it } from "vitest";
import type { Queue } from "../../domain/queue.js";
import { startNextTasks } from "../../domain/start-next-tasks.js";
import { start } from "../../domain/task.js";
import { aQueuedTask, taskId } from "../support/builders.js";

describe("startNextTasks", () => {
  const queue: Queue = { running: 3, waiting: 3, round: 4 };
  const next = [
    aQueuedTask({ id: taskId(1), turn: 4 }),
    aQueuedTask({ id: taskId(2), turn: 5 }),
    aQueuedTask({ id: taskId(3), turn: 6 }),
  ];

  it("starts the first tasks until no slot is free, and moves the round to the last one's turn", () => {
    expect(startNextTasks(queue, next, 5)).toEqual({ tasks: next.slice(0, 2).map(start), round: 5 });
  });

  it("starts all given tasks when more slots are free", () => {
    expect(startNextTasks(queue, next, 99)).toEqual({ tasks: next.map(start), round: 6 });
  });

  it("starts all given tasks when the provider has no concurrency limit", () => {
    expect(startNextTasks(queue, next, undefined)).toEqual({ tasks: next.map(start), round: 6 });
  });

  it("starts tasks of earlier rounds, which have returned to the queue, without going back to their round", () => {
    const returned = aQueuedTask({ id: taskId(9), turn: 2, submissions: 1 });
    expect(startNextTasks(queue, [returned], 5)).toEqual({ tasks: [start(returned)], round: 4 });
  });

  it("starts nothing and keeps the round when no slot is free or no task waits", () => {
    expect(startNextTasks(queue, next, 3)).toEqual({ tasks: [], round: 4 });
    expect(startNextTasks({ ...queue, running: 7 }, next, 5)).toEqual({ tasks: [], round: 4 });
    expect(startNextTasks(queue, [], 5)).toEqual({ tasks: [], round: 4 });
  });
});
