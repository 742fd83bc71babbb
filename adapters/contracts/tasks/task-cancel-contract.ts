import { err, ok } from "neverthrow";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import { declineCancel, requestCancel } from "../../../domain/tasks/cancel-request.js";
import { type SubmittedTask, submit } from "../../../domain/tasks/task.js";
import { noon, secondsAfter } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Contract of `recordCancelRequest`. */
export const describeCancelRequests = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, submitting, submitted, generated, failed } = on;
  let tasks: TaskStore & TaskAccess & TaskWork;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const soon = secondsAfter(noon, 30);
  const stale = ({ id }: SubmittedTask) => err({ kind: "stale_task", id });

  it("records the wish, and makes the task due", async () => {
    const task = await submitted(1, soon);
    expect(await tasks.recordCancelRequest(task, noon)).toEqual(ok(undefined));
    expect(await tasks.find(task.id, owner)).toEqual(requestCancel(task, noon));
    expect(await tasks.claim("poll", noon, soon, 9)).toEqual([{ task: requestCancel(task, noon), fence: 1 }]);
  });

  it("keeps a running lease and makes the task due after it", async () => {
    const task = await submitted(1);
    const [lease] = await tasks.claim("poll", noon, soon, 9);
    const wanted = requestCancel(task, secondsAfter(noon, 1));
    unwrap(await tasks.recordCancelRequest(task, secondsAfter(noon, 1)));
    expect(await tasks.claim("poll", secondsAfter(noon, 29), soon, 9)).toEqual([]);
    await tasks.postpone([{ lease: lease!, dueAt: secondsAfter(noon, 20) }]);
    expect(await tasks.claim("poll", secondsAfter(noon, 1), soon, 9)).toEqual([{ task: wanted, fence: 2 }]);
  });

  it("keeps a cancel request after the submission, and the submission deadline", async () => {
    const task = await submitting(1, soon);
    unwrap(await tasks.recordCancelRequest(task, noon));
    expect(await tasks.claim("recover", secondsAfter(noon, 29), secondsAfter(noon, 60), 9)).toEqual([]);
    const next = submit(task, "upstream-1", secondsAfter(noon, 1));
    unwrap(await tasks.move(task, next, soon));
    expect(await tasks.find(task.id, owner)).toEqual(requestCancel(next, noon));
  });

  it("stores the time of a refused cancel until the next request", async () => {
    const task = await submitted(1);
    unwrap(await tasks.recordCancelRequest(task, noon));
    const lease = await tasks.lease(task, noon, soon);
    const refused = declineCancel(lease!.task, secondsAfter(noon, 2));
    unwrap(await tasks.move(lease!, refused, secondsAfter(noon, 5)));
    expect(await tasks.find(task.id, owner)).toEqual(refused);
    expect(refused.cancelRequest).toEqual({ wantedAt: noon, refusedAt: secondsAfter(noon, 2) });
    expect(await tasks.recordCancelRequest(refused, secondsAfter(noon, 90))).toEqual(ok(undefined));
    expect(await tasks.find(task.id, owner)).toEqual(requestCancel(task, secondsAfter(noon, 90)));
  });

  it("returns stale_task if the task was refused, moved or deleted meanwhile", async () => {
    const [refused, ended, deleted] = [await submitted(1), await submitted(2), await submitted(3)];
    const lease = await tasks.lease(refused, noon, soon);
    unwrap(await tasks.move(lease!, declineCancel(lease!.task, noon), soon));
    unwrap(await tasks.move(ended, failed(ended), undefined));
    unwrap(await tasks.delete(deleted.id, owner, noon));
    for (const task of [refused, ended, deleted])
      expect(await tasks.recordCancelRequest(task, noon)).toEqual(stale(task));
    const done = await generated(4);
    const before = { ...done, state: "submitted" } as unknown as SubmittedTask;
    expect(await tasks.recordCancelRequest(before, noon)).toEqual(stale(before));
    expect(await tasks.find(done.id, owner)).toEqual(done);
  });
};
