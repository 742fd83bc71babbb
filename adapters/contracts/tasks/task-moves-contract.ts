import { err } from "neverthrow";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  keep,
  keepWithoutThumbnail,
  retry,
  type StoredImage,
  type UploadingImage,
} from "../../../domain/images/storage-status.js";
import {
  FAILURE_REASONS,
  type GeneratedTask,
  restartDeadline,
  submit,
  succeed,
  withFigures,
  withImage,
} from "../../../domain/tasks/task.js";
import { aNativeSize, anImageName, aSubmittingTask, noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Changes of a task's state, with its credits and its slot: `move`. */
export const describeMoves = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, submitting, submitted, generated, succeeded, failed, standing, entries } = on;
  let tasks: TaskStore;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("stores a submission and changes neither credits nor slots", async () => {
    const task = await submitted();
    expect(await tasks.find(task.id, owner)).toEqual(task);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
  });

  it("stores a success, frees the slot and keeps the credits spent", async () => {
    const task = await succeeded();
    expect(await tasks.find(task.id, owner)).toEqual(task);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 0 });
    expect(await entries()).toEqual(["purchase 100", "reservation -4"]);
  });

  for (const [state, make] of [
    ["submitting", () => submitting()],
    ["submitted", () => submitted()],
    ["generated", () => generated()],
  ] as const) {
    it(`refunds a ${state} task that fails and frees its slot`, async () => {
      const task = await make();
      const next = failed(task);
      unwrap(await tasks.move(task, next, undefined));
      expect(await tasks.find(next.id, owner)).toEqual(next);
      expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
      expect(await entries()).toEqual(["purchase 100", "reservation -4", "refund 4"]);
    });
  }

  for (const reason of FAILURE_REASONS) {
    it(`stores ${reason} as the reason of a failure, and which reference image it is about`, async () => {
      const [one, other] = [await submitted(1), await submitted(2)];
      const ended = { ...failed(one, reason), imageIndex: 2, imageProblem: "it has 9 × 9 pixels" };
      unwrap(await tasks.move(one, ended, undefined));
      unwrap(await tasks.move(other, failed(other, reason), undefined));
      expect(await tasks.find(one.id, owner)).toEqual(ended);
      expect(await tasks.find(other.id, owner)).toMatchObject({
        reason,
        imageIndex: undefined,
        imageProblem: undefined,
      });
    });
  }

  it("stores a generated task with its temporary URL, which stays active", async () => {
    const task = await generated();
    expect(await tasks.find(task.id, owner)).toEqual(task);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
    const restarted = restartDeadline(task, secondsAfter(noon, 600));
    unwrap(await tasks.move(task, restarted, noon));
    expect(await tasks.find(task.id, owner)).toEqual(restarted);
  });

  it("stores the native size of a result", async () => {
    const task = await succeeded();
    expect(await tasks.find(task.id, owner)).toEqual({ ...task, nativeSize: aNativeSize });
  });

  it("stores the figures of usable and unusable results, and how the usable one was made", async () => {
    const figures = { seam: 1.5, seamRatio: 1.25, poleDeviation: { zenith: 3.5, nadir: 0 }, horizon: 0.5 };
    const sourceType = "algorithmicMedia";
    const good = { ...withFigures(await generated(1), figures), sourceType } as const;
    const bad = withFigures(await generated(2), figures);
    const succeeded = succeed(good, anImageName(1), aNativeSize, secondsAfter(noon, 30));
    unwrap(await tasks.move(good, succeeded, noon));
    const kept = withImage(succeeded, keep(succeeded.image as UploadingImage));
    unwrap(await tasks.move(succeeded, kept, undefined));
    unwrap(await tasks.move(bad, failed(bad), undefined));
    expect(await tasks.find(good.id, owner)).toEqual({ ...kept, figures, sourceType });
    expect(await tasks.find(bad.id, owner)).toEqual({ ...failed(bad), figures });
  });

  it("keeps the figures of a result when a task without them is moved: reads for clients omit them", async () => {
    const figures = { seam: 0, seamRatio: 1, poleDeviation: { zenith: 0, nadir: 0 } };
    const task = withFigures(await generated(), figures);
    const succeeded = succeed(task, anImageName(1), aNativeSize, secondsAfter(noon, 30));
    unwrap(await tasks.move(task, succeeded, noon));
    const { figures: _, ...read } = withImage(succeeded, keep(succeeded.image as UploadingImage));
    unwrap(await tasks.move(succeeded, read, undefined));
    expect(await tasks.find(task.id, owner)).toMatchObject({ image: { status: "saved" }, figures });
  });

  it("stores every transition of the image's status", async () => {
    let task = await succeeded();
    const image = task.image as UploadingImage;
    const images: readonly StoredImage[] = [
      failAttempt(image),
      giveUp(image),
      unwrap(retry(giveUp(image))),
      failAttempt(image),
      keepWithoutThumbnail(image),
      addThumbnail(keepWithoutThumbnail(image)),
    ];
    for (const image of images) {
      const next = withImage(task, image);
      unwrap(await tasks.move(task, next, undefined));
      expect(await tasks.find(task.id, owner)).toEqual(next);
      task = next;
    }
  });

  for (const [status, end] of [
    ["saved", keep],
    ["expired", expire],
  ] as const) {
    it(`stores the final image status ${status}`, async () => {
      const task = await succeeded();
      const next = withImage(task, end(task.image as UploadingImage));
      unwrap(await tasks.move(task, next, undefined));
      expect(await tasks.find(task.id, owner)).toEqual(next);
    });
  }

  it("rejects a stale write with stale_task if the task has left the state", async () => {
    const before = await submitting();
    const next = submit(before, "upstream-1", noon);
    unwrap(await tasks.move(before, next, noon));
    const stale = err({ kind: "stale_task", id: before.id });
    expect(await tasks.move(before, failed(before), undefined)).toEqual(stale);
    expect(await tasks.move(before, submit(before, "upstream-2", noon), noon)).toEqual(stale);
    expect(await tasks.find(before.id, owner)).toEqual(next);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
  });

  it("rejects a stale write with stale_task if the image has left the storage status", async () => {
    const before = await succeeded();
    const saved = withImage(before, keep(before.image as UploadingImage));
    unwrap(await tasks.move(before, saved, undefined));
    const late = await tasks.move(before, withImage(before, expire(before.image as UploadingImage)), undefined);
    expect(late).toEqual(err({ kind: "stale_task", id: before.id }));
    expect(await tasks.find(before.id, owner)).toEqual(saved);
  });

  it("returns stale_task for an unknown task", async () => {
    const unknown = aSubmittingTask({ id: taskId(99) });
    expect(await tasks.move(unknown, failed(unknown), undefined)).toEqual(err({ kind: "stale_task", id: unknown.id }));
  });

  it("applies one of twenty concurrent moves", async () => {
    const task = await generated();
    const success = succeed(task, anImageName(), aNativeSize, noon);
    const moves = Array.from({ length: 20 }, (_, n) =>
      tasks.move(task, n % 2 === 0 ? failed(task) : success, undefined),
    );
    const won = (await Promise.all(moves)).filter((result) => result.isOk());
    expect(won).toHaveLength(1);
    const current = await tasks.find(task.id, owner);
    expect(await standing()).toEqual({
      accountId: owner,
      credits: current?.state === "failed" ? 100 : 96,
      activeTasks: 0,
    });
  });

  it("keeps credits and slots correct when five tasks of one account end concurrently", async () => {
    const active: GeneratedTask[] = [];
    for (const n of [1, 2, 3, 4, 5]) active.push(await generated(n));
    await Promise.all(
      active.map(async (task, n) =>
        unwrap(
          await tasks.move(task, n < 3 ? failed(task) : succeed(task, anImageName(n), aNativeSize, noon), undefined),
        ),
      ),
    );
    expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 0 });
  });
};
