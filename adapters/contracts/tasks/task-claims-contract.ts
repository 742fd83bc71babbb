import { err, ok } from "neverthrow";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import { type SubmittedTask, submit } from "../../../domain/tasks/task.js";
import { noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Leases of due tasks: `claim`, `lease`, `postpone`; tasks without work: `ended`. */
export const describeClaims = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, submitting, submitted, succeeded, failed, standing } = on;
  let tasks: TaskStore & TaskAccess & TaskWork;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const soon = secondsAfter(noon, 30);

  it("returns the tasks in the state of each kind of work", async () => {
    const a = await submitting(1);
    const b = await submitted(2);
    const c = await succeeded(3);
    expect(await tasks.claim("recover", noon, soon, 9)).toEqual([{ task: a, fence: 1 }]);
    expect(await tasks.claim("poll", noon, soon, 9)).toEqual([{ task: b, fence: 1 }]);
    expect(await tasks.claim("store", noon, soon, 9)).toEqual([{ task: c, fence: 1 }]);
  });

  it("returns no task that is not due or needs no work", async () => {
    await submitted(1, secondsAfter(noon, 1));
    const done = await succeeded(2);
    unwrap(await tasks.move(done, done, undefined));
    const task = await submitted(3);
    unwrap(await tasks.move(task, failed(task), undefined));
    for (const work of ["recover", "poll", "store"] as const) {
      expect(await tasks.claim(work, secondsAfter(noon, 0.999), soon, 9)).toEqual([]);
    }
    expect(await tasks.claim("poll", secondsAfter(noon, 1), soon, 9)).toHaveLength(1);
  });

  it("returns the longest overdue tasks first, at most the limit", async () => {
    for (const [n, seconds] of [3, 1, 5, 2].entries()) await submitted(n, secondsAfter(noon, seconds));
    const claimed = await tasks.claim("poll", secondsAfter(noon, 9), secondsAfter(noon, 60), 2);
    expect(claimed.map(({ task }) => task.id).sort()).toEqual([taskId(1), taskId(3)]);
  });

  it("returns each task to one of eight concurrent callers", async () => {
    for (const n of [1, 2, 3, 4, 5]) await submitted(n);
    const claims = Array.from({ length: 8 }, () => tasks.claim("poll", noon, soon, 2));
    const ids = (await Promise.all(claims)).flat().map(({ task }) => task.id);
    expect(ids.sort()).toEqual([1, 2, 3, 4, 5].map(taskId));
  });

  it("returns a task again when its lease has expired, and rejects writes with the old lease", async () => {
    const task = await submitted();
    const [first] = await tasks.claim("poll", noon, soon, 1);
    expect(await tasks.claim("poll", secondsAfter(noon, 29), secondsAfter(noon, 59), 1)).toEqual([]);
    const [second] = await tasks.claim("poll", soon, secondsAfter(soon, 30), 1);
    expect(second).toEqual({ task, fence: 2 });
    expect(await tasks.move(first!, task, noon)).toEqual(err({ kind: "stale_task", id: task.id }));
    expect(await tasks.move(first!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
    expect(await tasks.move(second!, failed(task), undefined)).toEqual(ok(undefined));
    expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
  });

  it("returns a leased task again when the due time set by move is reached", async () => {
    const task = await submitted();
    const [lease] = await tasks.claim("poll", noon, soon, 1);
    unwrap(await tasks.move(lease!, task, secondsAfter(noon, 2)));
    expect(await tasks.claim("poll", secondsAfter(noon, 1), soon, 1)).toEqual([]);
    expect(await tasks.claim("poll", secondsAfter(noon, 2), soon, 1)).toEqual([{ task, fence: 2 }]);
  });

  it("leases a submitted task that is not due, and makes it due when it is given back", async () => {
    const task = await submitted(1, secondsAfter(noon, 20));
    const until = secondsAfter(noon, 60);
    const lease = await tasks.lease(task, noon, until);
    expect(lease).toEqual({ task, fence: 1 });
    expect(await tasks.claim("poll", secondsAfter(noon, 59), until, 9)).toEqual([]);
    await tasks.postpone([{ lease: lease!, dueAt: secondsAfter(noon, 30) }]);
    expect(await tasks.claim("poll", secondsAfter(noon, 29), until, 9)).toEqual([]);
    expect(await tasks.claim("poll", secondsAfter(noon, 30), until, 9)).toEqual([{ task, fence: 2 }]);
  });

  it("leases no task that another worker has leased, until that lease has expired", async () => {
    const task = await submitted(1);
    const [first] = await tasks.claim("poll", noon, soon, 1);
    expect(await tasks.lease(task, secondsAfter(noon, 29), secondsAfter(noon, 60))).toBeUndefined();
    const second = await tasks.lease(task, soon, secondsAfter(noon, 60));
    expect(second).toEqual({ task, fence: 2 });
    expect(await tasks.move(first!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
    expect(await tasks.move(second!, failed(task), undefined)).toEqual(ok(undefined));
  });

  it("leases a task to one of eight concurrent callers", async () => {
    const task = await submitted(1);
    const leases = await Promise.all(Array.from({ length: 8 }, () => tasks.lease(task, noon, soon)));
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it("gives a lease back with a move, and keeps it with a move within the lease", async () => {
    const task = await submitted(1);
    const [first] = await tasks.claim("poll", noon, soon, 1);
    unwrap(await tasks.moveWithinLease(first!, task, secondsAfter(noon, 60)));
    await tasks.makeDueNow(task.id, secondsAfter(noon, 1));
    expect(await tasks.claim("poll", secondsAfter(noon, 59), soon, 9)).toEqual([]);
    unwrap(await tasks.move(first!, task, secondsAfter(noon, 40)));
    expect(await tasks.claim("poll", secondsAfter(noon, 39), soon, 9)).toEqual([]);
    const [second] = await tasks.claim("poll", secondsAfter(noon, 40), secondsAfter(noon, 60), 9);
    expect(second).toEqual({ task, fence: 2 });
    expect(await tasks.moveWithinLease(first!, task, soon)).toEqual(err({ kind: "stale_task", id: task.id }));
  });

  it("ends a lease when the task enters another state", async () => {
    const task = await submitting();
    await tasks.claim("recover", noon, soon, 1);
    unwrap(await tasks.move(task, submit(task, "upstream-1", noon), noon));
    expect(await tasks.claim("poll", noon, soon, 9)).toHaveLength(1);
  });

  it("does not lease an ended or deleted task", async () => {
    const [ended, deleted] = [await submitted(1), await submitted(2)];
    unwrap(await tasks.move(ended, failed(ended), undefined));
    unwrap(await tasks.delete(deleted.id, owner, noon));
    for (const task of [ended, deleted]) {
      expect(await tasks.lease(task, noon, soon)).toBeUndefined();
    }
    expect(await tasks.claim("poll", soon, soon, 9)).toEqual([]);
  });

  it("ended returns the inactive tasks of all accounts", async () => {
    const active = [await submitting(1), await submitted(2)];
    const ended = [await succeeded(3), await submitted(4)];
    unwrap(await tasks.move(ended[1]!, failed(ended[1] as SubmittedTask), undefined));
    await succeeded(5); // not asked for
    const unknown = Array.from({ length: 3000 }, (_, n) => taskId(1000 + n));
    const asked = [...unknown, ...active.map(({ id }) => id), ...ended.map(({ id }) => id)];
    expect((await tasks.ended(asked)).sort()).toEqual([3, 4].map(taskId));
    expect(await tasks.ended(active.map(({ id }) => id))).toEqual([]);
    expect(await tasks.ended([])).toEqual([]);
  });

  it("postpone returns several leases in one call, each with its own due time", async () => {
    const many = [await submitted(1), await submitted(2), await submitted(3)];
    const leases = await tasks.claim("poll", noon, soon, 9);
    await tasks.postpone(leases.map((lease, n) => ({ lease, dueAt: secondsAfter(noon, n + 1) })));
    expect(await tasks.claim("poll", secondsAfter(noon, 0.999), soon, 9)).toEqual([]);
    const due = await tasks.claim("poll", secondsAfter(noon, 2), soon, 9);
    expect(due.map(({ task, fence }) => [task.id, fence]).sort()).toEqual([
      [leases[0]?.task.id, 2],
      [leases[1]?.task.id, 2],
    ]);
    for (const task of many) expect(await tasks.find(task.id, owner)).toEqual(task);
  });

  it("postpone ignores leases of tasks that were claimed again or changed their state", async () => {
    const [one, other] = [await submitted(1), await submitted(2)];
    const late = await tasks.claim("poll", noon, secondsAfter(noon, 1), 9);
    const [theirs] = await tasks.claim("poll", secondsAfter(noon, 1), soon, 1);
    const ended = theirs?.task.id === one.id ? other : one;
    unwrap(await tasks.move(ended, failed(ended), undefined));
    await tasks.postpone(late.map((lease) => ({ lease, dueAt: noon })));
    expect(await tasks.claim("poll", secondsAfter(noon, 2), soon, 9)).toEqual([]);
  });

  it("does not stop a caller without a lease from moving the task", async () => {
    const task = await submitting();
    await tasks.claim("recover", noon, soon, 1);
    expect(await tasks.move(task, submit(task, "upstream-1", noon), noon)).toEqual(ok(undefined));
  });
};
