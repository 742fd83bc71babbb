import type { TaskQueue } from "../../../application/ports/stores/tasks/task-queue.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { type SubmittingTask, submit, type Task } from "../../../domain/tasks/task.js";
import { aPlace, noon, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** The queue of a provider with several places: `startQueued`, `open` and `changePlace`. */
export const describePlaces = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, openAt, later, deadline, submitted, failed } = on;
  let tasks: TaskStore & TaskQueue;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  /** Makes only requests without reference images. */
  const first = (concurrencyMax: number) => aPlace(concurrencyMax, "first");
  const second = (concurrencyMax: number | undefined) => ({
    ...aPlace(concurrencyMax, "second"),
    canMake: ({ imageUrls }: CreationRequest) => imageUrls.length === 0,
  });
  const withImage = { image_urls: ["https://example.com/a.png"] };
  const placesOf = (started: readonly Task[]) =>
    started.map((task) => [task.id, task.state === "submitting" ? task.place : task.state]);

  it("starts each task at the first place with a free slot, and as many as there are slots together", async () => {
    const places = [first(1), second(2)];
    const opened: Task[] = [];
    for (const n of [1, 2, 3, 4]) opened.push(await openAt(n, places));
    expect(placesOf(opened).map(([, place]) => place)).toEqual(["first", "second", "second", "queued"]);
    expect(await tasks.startQueued(places, 9, noon, deadline)).toEqual([]);
    const [one, two] = opened as [SubmittingTask, SubmittingTask];
    unwrap(await tasks.move(one, submit(one, "first:1", noon), later));
    expect(await tasks.startQueued(places, 9, noon, deadline)).toEqual([]);
    unwrap(await tasks.move(two, failed(two, "refused"), undefined));
    expect(placesOf(await tasks.startQueued(places, 9, noon, deadline))).toEqual([[taskId(4), "second"]]);
  });

  it("counts the tasks without a recorded place at the first place", async () => {
    await submitted(1);
    const places = [first(1), second(1)];
    expect(await openAt(2, places)).toMatchObject({ state: "submitting", place: "second" });
    expect(await openAt(3, places)).toMatchObject({ state: "queued" });
  });

  it("starts tasks behind those whose place is full, which keep their turns and start first later", async () => {
    const places = [first(1), second(undefined)];
    await openAt(1, places, { fields: withImage });
    // More than the first page of tasks that only the first place can make.
    for (const n of [2, 3]) await openAt(n, places, { fields: withImage });
    await openAt(4, places);
    expect(placesOf(await tasks.startQueued(places, 1, noon, deadline))).toEqual([[taskId(4), "second"]]);
    await openAt(5, places, { fields: withImage });
    expect(placesOf(await tasks.startQueued(places, 9, noon, deadline))).toEqual([]);
    expect(placesOf(await tasks.startQueued([first(2), second(undefined)], 9, noon, deadline))).toEqual([
      [taskId(2), "first"],
    ]);
  });

  it("moves the slot of a task to a place with a free slot, and to no other", async () => {
    const places = [first(2), second(1)];
    const [one, two] = [await openAt(1, places), await openAt(2, places)] as [SubmittingTask, SubmittingTask];
    expect(await tasks.changePlace(one, second(1))).toBe(true);
    expect(await tasks.find(one.id, owner)).toEqual({ ...one, place: "second" });
    expect(await tasks.changePlace(two, second(1))).toBe(false);
    expect(await tasks.find(two.id, owner)).toEqual(two);
    expect(await tasks.changePlace(two, second(undefined))).toBe(true);
    const submitted = submit(one, "second:1", noon);
    unwrap(await tasks.move(one, submitted, later));
    // The store knows where the slot is, whatever the caller has read before.
    expect(await tasks.find(one.id, owner)).toEqual({ ...submitted, place: "second" });
    expect(await openAt(3, [first(1), second(1)])).toMatchObject({ state: "submitting", place: "first" });
    expect(await openAt(4, [first(1), second(3)])).toMatchObject({ state: "submitting", place: "second" });
    expect(await openAt(5, [first(1), second(3)])).toMatchObject({ state: "queued" });
  });

  it("moves no task of another submission, and frees the slot of a returned task", async () => {
    const places = [first(1)];
    const one = (await openAt(1, places)) as SubmittingTask;
    unwrap(await tasks.requeue(one, later));
    expect(await tasks.changePlace(one, second(1))).toBe(false);
    expect(await tasks.changePlace(one, second(undefined))).toBe(false);
    const [again] = await tasks.startQueued(places, 9, noon, deadline);
    expect(again).toMatchObject({ id: one.id, submissions: 1, place: "first" });
    expect(await tasks.changePlace(one, second(1))).toBe(false);
    expect(await tasks.changePlace(again as SubmittingTask, second(1))).toBe(true);
    unwrap(await tasks.move(again as SubmittingTask, submit(again as SubmittingTask, "second:1", noon), later));
    expect(await tasks.changePlace(again as SubmittingTask, first(1))).toBe(false);
  });

  it("gives the last slot to one of several tasks that move to it at once", async () => {
    const places = [first(4)];
    const opened: SubmittingTask[] = [];
    for (const n of [1, 2, 3, 4]) opened.push((await openAt(n, places)) as SubmittingTask);
    const moved = await Promise.all(opened.map((task) => tasks.changePlace(task, second(2))));
    expect(moved.filter((one) => one)).toHaveLength(2);
    expect(await openAt(5, [second(2)])).toMatchObject({ state: "queued" });
  });
};
