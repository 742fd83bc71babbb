import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import { keep, type UploadingImage } from "../../../domain/images/storage-status.js";
import { withImage } from "../../../domain/tasks/task.js";
import { noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Deletion by the owner, and the background work after it: `delete`, `isDeleted`. */
export const describeDeletion = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, stranger, submitted, succeeded, kept } = on;
  let tasks: TaskStore & TaskAccess & TaskWork & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("delete removes the task from every read except the ledger", async () => {
    const task = await kept(1);
    unwrap(await tasks.setVisibility(task.id, owner, "public"));
    unwrap(await tasks.delete(task.id, owner, noon));
    expect(await tasks.find(task.id, owner)).toBeUndefined();
    expect(await tasks.findBySlug(task.slug)).toBeUndefined();
    expect(await tasks.list(owner, 10, undefined)).toEqual([]);
    expect(await tasks.listPublic(10, undefined)).toEqual([]);
    for await (const account of on.stores.ledger.all()) expect(account.tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it("isDeleted is true only for the owner's deleted tasks", async () => {
    const task = await kept(1);
    expect(await tasks.isDeleted(task.id, owner)).toBe(false);
    unwrap(await tasks.delete(task.id, owner, noon));
    expect(await tasks.isDeleted(task.id, owner)).toBe(true);
    expect(await tasks.isDeleted(task.id, stranger)).toBe(false);
    expect(await tasks.isDeleted(taskId(99), owner)).toBe(false);
  });

  it("delete keeps a running lease and makes erase due after it", async () => {
    await succeeded(1);
    const [lease] = await tasks.claim("store", noon, secondsAfter(noon, 7200), 1);
    unwrap(await tasks.delete(taskId(1), owner, secondsAfter(noon, 1)));
    expect(await tasks.claim("erase", secondsAfter(noon, 7199), secondsAfter(noon, 9999), 1)).toEqual([]);
    const { task } = lease!;
    const stored = withImage(task, keep(task.image as UploadingImage));
    unwrap(await tasks.move(lease!, stored, secondsAfter(noon, 600)));
    expect(await tasks.claim("store", secondsAfter(noon, 9999), secondsAfter(noon, 9999), 1)).toEqual([]);
    const [erasing] = await tasks.claim("erase", secondsAfter(noon, 1), secondsAfter(noon, 60), 1);
    expect(erasing).toEqual({ task: stored, fence: 2 });
    unwrap(await tasks.move(erasing!, erasing!.task, undefined));
    expect(await tasks.claim("erase", secondsAfter(noon, 9999), secondsAfter(noon, 9999), 1)).toEqual([]);
  });

  it("erase stays due when a worker ends after its lease and after the deletion", async () => {
    await succeeded(1);
    const [late] = await tasks.claim("store", noon, secondsAfter(noon, 60), 1);
    unwrap(await tasks.delete(taskId(1), owner, secondsAfter(noon, 61)));
    unwrap(await tasks.move(late!, late!.task, undefined));
    const erasing = await tasks.claim("erase", secondsAfter(noon, 61), secondsAfter(noon, 120), 9);
    expect(erasing.map(({ task }) => task)).toEqual([late!.task]);
  });

  it("a deleted task is due for erase now or after the lease, until move completes it", async () => {
    const idle = await kept(1);
    const leased = await succeeded(2);
    await tasks.claim("store", noon, secondsAfter(noon, 60), 1);
    const overdue = await succeeded(3);
    await kept(4); // not deleted
    for (const task of [idle, leased, overdue]) unwrap(await tasks.delete(task.id, owner, noon));

    const erase = async (seconds: number) => {
      const at = secondsAfter(noon, seconds);
      return tasks.claim("erase", at, secondsAfter(at, 1_000), 9);
    };
    const first = await erase(0);
    expect(first.map(({ task }) => task).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([idle, overdue]);
    expect(await erase(59)).toEqual([]);
    expect((await erase(60)).map(({ task }) => task)).toEqual([leased]);
    for (const lease of first) unwrap(await tasks.move(lease, lease.task, undefined));
    expect((await erase(9_999)).map(({ task }) => task)).toEqual([leased]);
  });

  it("a deleted failed task is not due for erase", async () => {
    const task = await submitted(1);
    unwrap(await tasks.delete(task.id, owner, noon));
    for (const work of ["poll", "erase"] as const) {
      expect(await tasks.claim(work, secondsAfter(noon, 9999), secondsAfter(noon, 9999), 1)).toEqual([]);
    }
  });

  it("setVisibility and delete return not_found for other accounts and deleted tasks", async () => {
    const { id } = await kept(1);
    const isNotFound = { error: { kind: "not_found" } };
    expect(await tasks.setVisibility(id, stranger, "public")).toMatchObject(isNotFound);
    expect(await tasks.delete(id, stranger, noon)).toMatchObject(isNotFound);
    unwrap(await tasks.delete(id, owner, noon));
    expect(await tasks.setVisibility(id, owner, "public")).toMatchObject(isNotFound);
    expect(await tasks.delete(id, owner, noon)).toMatchObject(isNotFound);
  });
};
