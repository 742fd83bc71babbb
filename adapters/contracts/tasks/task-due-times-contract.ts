import { err, ok } from "neverthrow";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import { noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** When the work on a task is due earlier: `makeDueNow`, `bringForward`. */
export const describeDueTimes = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, submitting, submitted, succeeded, failed } = on;
  let tasks: TaskStore & TaskAccess & TaskWork;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const soon = secondsAfter(noon, 30);

  it("returns a task immediately after makeDueNow, but only once", async () => {
    const task = await submitted(1, secondsAfter(noon, 30));
    await tasks.makeDueNow(task.id, noon);
    await tasks.makeDueNow(task.id, noon);
    expect(await tasks.claim("poll", noon, soon, 9)).toEqual([{ task, fence: 1 }]);
    expect(await tasks.claim("poll", noon, soon, 9)).toEqual([]);
  });

  it("makeDueNow keeps a running lease and makes the task due after it", async () => {
    const task = await submitted();
    const [lease] = await tasks.claim("poll", noon, soon, 1);
    await tasks.makeDueNow(task.id, secondsAfter(noon, 1));
    expect(await tasks.claim("poll", secondsAfter(noon, 29), secondsAfter(noon, 60), 1)).toEqual([]);
    await tasks.postpone([{ lease: lease!, dueAt: secondsAfter(noon, 20) }]);
    expect(await tasks.claim("poll", secondsAfter(noon, 1), soon, 1)).toEqual([{ task, fence: 2 }]);
    expect(await tasks.move(lease!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
  });

  it("a new lease clears an earlier makeDueNow", async () => {
    const task = await submitted(1, soon);
    await tasks.makeDueNow(task.id, noon);
    const [lease] = await tasks.claim("poll", noon, secondsAfter(noon, 9), 1);
    await tasks.postpone([{ lease: lease!, dueAt: secondsAfter(noon, 20) }]);
    expect(await tasks.claim("poll", secondsAfter(noon, 19), soon, 1)).toEqual([]);
  });

  it("makes a leased task due at the end of its lease if its holder does not give it back", async () => {
    const task = await submitted();
    await tasks.claim("poll", noon, soon, 1);
    await tasks.makeDueNow(task.id, secondsAfter(noon, 1));
    expect(await tasks.claim("poll", soon, secondsAfter(noon, 60), 1)).toEqual([{ task, fence: 2 }]);
  });

  it("makeDueNow delays no poll and ignores tasks that are not polled", async () => {
    await submitted(1);
    await tasks.makeDueNow(taskId(1), secondsAfter(noon, 5));
    const waiting = await submitting(2, soon);
    const done = await succeeded(3);
    unwrap(await tasks.move(done, done, soon));
    const deleted = await submitted(4, soon);
    unwrap(await tasks.delete(deleted.id, owner, noon));
    for (const id of [waiting.id, done.id, deleted.id, taskId(99)]) await tasks.makeDueNow(id, noon);
    expect((await tasks.claim("poll", noon, soon, 9)).map(({ task }) => task.id)).toEqual([taskId(1)]);
    expect(await tasks.claim("recover", noon, soon, 9)).toEqual([]);
    expect(await tasks.claim("store", noon, soon, 9)).toEqual([]);
  });

  it("bringForward makes tasks that are due too late due at the given time", async () => {
    await submitted(1, secondsAfter(noon, 3600));
    await submitted(2, secondsAfter(noon, 60));
    await tasks.bringForward("poll", () => ({ now: noon, latest: secondsAfter(noon, 60), dueAt: noon }));
    const due = await tasks.claim("poll", noon, secondsAfter(noon, 30), 9);
    expect(due.map(({ task }) => task.id)).toEqual([taskId(1)]);
    expect(await tasks.claim("poll", secondsAfter(noon, 60), soon, 9)).toHaveLength(2);
  });

  it("bringForward shortens leases that are too long, and ends none", async () => {
    const [one, other] = [await submitted(1), await submitted(2)];
    const leases = await tasks.claim("poll", noon, secondsAfter(noon, 7200), 9);
    await tasks.makeDueNow(other.id, noon);
    await tasks.bringForward("poll", () => ({ now: noon, latest: secondsAfter(noon, 60), dueAt: noon }));
    expect(await tasks.claim("poll", secondsAfter(noon, 59), soon, 9)).toEqual([]);
    const lease = leases.find(({ task }) => task.id === one.id);
    expect(await tasks.move(lease!, failed(one), undefined)).toEqual(ok(undefined));
    expect(await tasks.claim("poll", secondsAfter(noon, 60), soon, 9)).toEqual([{ task: other, fence: 2 }]);
  });

  it("bringForward compares with the clock after the read", async () => {
    await submitted(1, secondsAfter(noon, 3600));
    await submitted(2, secondsAfter(noon, 7200));
    let now = noon; // of a process that is paused before its statement is sent
    await tasks.bringForward("poll", () => {
      const bounds = { now, latest: secondsAfter(now, 60), dueAt: now };
      now = secondsAfter(noon, 3600);
      return bounds;
    });
    const due = await tasks.claim("poll", secondsAfter(noon, 3599), soon, 9);
    expect(due.map(({ task }) => task.id)).toEqual([]);
    expect(await tasks.claim("poll", secondsAfter(noon, 3600), soon, 9)).toHaveLength(2);
  });

  it("bringForward changes only tasks of its kind of work", async () => {
    const later = secondsAfter(noon, 3600);
    await submitting(1, later);
    await submitted(2, later);
    const done = await succeeded(3);
    unwrap(await tasks.move(done, done, later));
    const ended = await succeeded(4);
    unwrap(await tasks.move(ended, ended, undefined));
    for (const [work, n] of [
      ["recover", 1],
      ["poll", 2],
      ["store", 3],
    ] as const) {
      await tasks.bringForward(work, () => ({ now: noon, latest: soon, dueAt: noon }));
      for (const other of ["giveUp", "recover", "poll", "store"] as const) {
        const due = await tasks.claim(other, noon, secondsAfter(noon, 9), 9);
        expect(due.map(({ task }) => task.id)).toEqual(other === work ? [taskId(n)] : []);
      }
    }
  });
};
