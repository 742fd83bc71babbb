import { err, ok } from "neverthrow";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskQueue } from "../../../application/ports/stores/tasks/task-queue.js";
import type { Lease, TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import type { TaskId } from "../../../domain/ids.js";
import { type SubmittingTask, submit, type Task } from "../../../domain/tasks/task.js";
import { aQueuedTask, aSubmittingTask, limitedTo, noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Tasks that return to the queue, or leave it: `requeue`, and the turns of the others. */
export const describeRequeue = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, stranger, openAccount, openLimited, later, deadline, failed, standing } = on;
  let tasks: TaskStore & TaskQueue & TaskWork & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const ids = (started: readonly Task[]) => started.map(({ id }) => id).sort();

  it("returns the turn of a task that ends in the queue if it is its account's last", async () => {
    await openAccount(2);
    await openLimited(1, 1);
    const waiting: Task[] = [];
    for (const n of [2, 3, 4, 5]) waiting.push(await openLimited(n, 1));
    expect(waiting).toMatchObject([2, 3, 4, 5].map((n) => ({ id: taskId(n), turn: n - 1 })));
    const [, second, , last] = waiting as [Task, Task, Task, Task];
    unwrap(await tasks.move(second, failed(second, "canceled"), undefined));
    unwrap(await tasks.move(last, failed(last, "canceled"), undefined));
    const turns = await Promise.all([2, 4].map((n) => tasks.find(taskId(n), owner)));
    expect(turns).toMatchObject([{ turn: 1 }, { turn: 3 }]);
    expect(await openLimited(6, 1, { account: stranger })).toMatchObject({ turn: 1 });
    expect(await openLimited(7, 1)).toMatchObject({ turn: 4 });
  });

  it("lets tasks of one account end, start and return at the same time", async () => {
    await openAccount(2);
    const sent = (await openLimited(1, 1)) as SubmittingTask;
    const waiting: Task[] = [];
    for (const n of [2, 3, 4, 5]) waiting.push(await openLimited(n, 1));
    const [first, second] = waiting as [Task, Task];
    const outcomes = await Promise.all([
      tasks.move(first, failed(first, "canceled"), undefined),
      tasks.requeue(sent, later),
      tasks.startQueued(limitedTo(2), 1, noon, deadline),
      tasks.move(second, failed(second, "canceled"), undefined),
      openLimited(6, 1, { account: stranger }),
    ]);
    expect(outcomes).toHaveLength(5);
    const left = (await tasks.list(owner, 9, undefined)).filter(({ state }) => state !== "failed");
    expect(await standing()).toMatchObject({ activeTasks: left.length });
  });

  it("keeps the turn of a returned task, which starts next", async () => {
    await openAccount(2);
    await openLimited(1, 1);
    await openLimited(2, 1);
    await openLimited(3, 1, { account: stranger });
    const [sent] = await tasks.startQueued(limitedTo(2), 1, noon, deadline);
    const back = aQueuedTask({ id: taskId(2), turn: 1, submissions: 1 });
    expect(await tasks.requeue(sent as SubmittingTask, later)).toEqual(ok(back));
    expect(await tasks.find(taskId(2), owner)).toEqual(back);
    expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 2 });
    expect(await tasks.claim("giveUp", secondsAfter(noon, 299), later, 9)).toEqual([]);
    expect(await tasks.startQueued(limitedTo(2), 1, noon, deadline)).toEqual([
      aSubmittingTask({ id: taskId(2), turn: 1, submissions: 1, place: "only" }),
    ]);
  });

  it("skips a task before startAt and ignores an impossibly late startAt", async () => {
    await openAccount(2);
    const first = (await openLimited(1, 1)) as SubmittingTask;
    await openLimited(2, 1, { account: stranger });
    const start = async (at: Date) => ids(await tasks.startQueued(limitedTo(undefined), 9, at, deadline));
    unwrap(await tasks.requeue(first, later, secondsAfter(noon, 20)));
    expect(await start(noon)).toEqual([taskId(2)]);
    expect(await start(secondsAfter(noon, 19))).toEqual([]);
    const [again] = await tasks.startQueued(limitedTo(undefined), 9, secondsAfter(noon, 20), deadline);
    expect(again).toMatchObject({ id: taskId(1), submissions: 1 });
    unwrap(await tasks.requeue(again as SubmittingTask, later, secondsAfter(noon, 60)));
    expect(await start(secondsAfter(noon, -1))).toEqual([taskId(1)]);
  });

  it("lets a task that returns without a turn join the current round", async () => {
    await openAccount(2);
    const first = await openLimited(1, 3);
    const second = await openLimited(2, 3);
    await openLimited(3, 1);
    await openLimited(4, 1, { account: stranger });
    expect(unwrap(await tasks.requeue(second as SubmittingTask, later))).toMatchObject({ turn: 1, submissions: 1 });
    expect(unwrap(await tasks.requeue(first as SubmittingTask, later))).toMatchObject({ turn: 1, submissions: 1 });
    expect(await tasks.find(taskId(3), owner)).toMatchObject({ turn: 1 });
    expect(await openLimited(5, 1)).toMatchObject({ turn: 2 });
    const order: TaskId[] = [];
    for (let n = 0; n < 5; n += 1) order.push(...ids(await tasks.startQueued(limitedTo(undefined), 1, noon, deadline)));
    expect(order).toEqual([1, 2, 3, 4, 5].map(taskId));
  });

  it("rejects writes of an earlier submission", async () => {
    const first = (await openLimited(1, 1)) as SubmittingTask;
    const [lease] = await tasks.claim("recover", noon, later, 9);
    unwrap(await tasks.requeue(first, later));
    const [again] = await tasks.startQueued(limitedTo(1), 1, noon, deadline);
    expect(again).toEqual(aSubmittingTask({ id: taskId(1), turn: 1, submissions: 1, place: "only" }));
    const stale = err({ kind: "stale_task", id: taskId(1) });
    expect(await tasks.move(first, submit(first, "upstream-1", noon), later)).toEqual(stale);
    expect(await tasks.move(lease as Lease<Task>, failed(first), undefined)).toEqual(stale);
    expect(await tasks.requeue(first, later)).toEqual(stale);
    expect(await tasks.recordCancelRequest(first, noon)).toEqual(stale);
    expect(await tasks.requeue(lease as Lease<SubmittingTask>, later)).toEqual(stale);
    expect(await tasks.find(taskId(1), owner)).toEqual(again);
    unwrap(await tasks.requeue(again as SubmittingTask, later));
    expect(await tasks.move(aQueuedTask({ id: taskId(1), submissions: 1 }), failed(first), undefined)).toEqual(stale);
  });

  it("returns a task once, with concurrent callers and while others are given up", async () => {
    const opened: Task[] = [];
    for (const n of [1, 2, 3, 4]) opened.push(await openLimited(n, 9));
    const outcomes = await Promise.all([
      ...opened.map((task) => tasks.requeue(task as SubmittingTask, later)),
      ...opened.map((task) => tasks.requeue(task as SubmittingTask, later)),
      ...opened.map((task) => tasks.move(task, failed(task), undefined)),
    ]);
    expect(outcomes.filter((outcome) => outcome.isOk())).toHaveLength(4);
    const waiting = (await tasks.list(owner, 9, undefined)).filter(({ state }) => state === "queued");
    expect(await standing()).toMatchObject({ activeTasks: waiting.length });
  });
};
