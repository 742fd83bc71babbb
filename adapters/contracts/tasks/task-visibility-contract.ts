import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import { keep, type UploadingImage } from "../../../domain/images/storage-status.js";
import type { TaskId } from "../../../domain/task-id.js";
import { startView } from "../../../domain/tasks/start-view.js";
import { succeed, type Task, withImage } from "../../../domain/tasks/task.js";
import { accountId, aNativeSize, anImageName, noon, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** What others see: `setVisibility`, `listPublic`, `setStartView`. */
export const describeVisibility = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, generated, succeeded, kept } = on;
  let tasks: TaskStore & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const publish = async (task: Task) => unwrap(await tasks.setVisibility(task.id, owner, "public"));
  const gallery = async (limit = 10, before?: TaskId) => (await tasks.listPublic(limit, before)).map(({ id }) => id);

  it("listPublic returns public panoramas with a stored image, newest first, in pages", async () => {
    for (const n of [1, 2, 3]) await publish(await kept(n));
    await kept(4); // private
    await publish(await succeeded(5)); // not kept yet
    expect(await gallery()).toEqual([taskId(3), taskId(2), taskId(1)]);
    expect(await gallery(2)).toEqual([taskId(3), taskId(2)]);
    expect(await gallery(2, taskId(2))).toEqual([taskId(1)]);
    expect((await tasks.listPublic(1, undefined))[0]?.request.visibility).toBe("public");
    const newer = await tasks.listPublic(1, taskId(1), "oldest");
    expect(newer.map(({ id }) => id)).toEqual([taskId(2)]);
  });

  it("setVisibility changes the task, also while background work moves it", async () => {
    const task = await generated(1);
    await publish(task);
    unwrap(await tasks.move(task, succeed(task, anImageName(), aNativeSize, noon), noon));
    expect((await tasks.find(task.id, owner))?.request.visibility).toBe("public");
    unwrap(await tasks.setVisibility(task.id, owner, "private"));
    expect((await tasks.find(task.id, owner))?.request.visibility).toBe("private");
  });

  it("setStartView changes where viewers of a panorama look first, also while background work moves it", async () => {
    const task = await succeeded(1);
    expect((await tasks.find(task.id, owner))?.startView).toBeUndefined();
    for (const view of [startView("170,-10,75"), startView("-12.5,0")]) {
      unwrap(await tasks.setStartView(task.id, owner, view));
      expect((await tasks.findBySlug(task.slug))?.startView).toEqual(view);
    }
    unwrap(await tasks.move(task, withImage(task, keep(task.image as UploadingImage)), undefined));
    await publish(task);
    expect((await tasks.listPublic(1, undefined))[0]?.startView).toEqual(startView("-12.5,0"));

    const isNotFound = { error: { kind: "not_found" } };
    expect(await tasks.setStartView(task.id, accountId(404), startView("1,1,75"))).toMatchObject(isNotFound);
    expect(await tasks.setStartView((await generated(2)).id, owner, startView("1,1,75"))).toMatchObject(isNotFound);
    unwrap(await tasks.hide(task.id, owner, noon));
    expect(await tasks.setStartView(task.id, owner, startView("1,1,75"))).toMatchObject(isNotFound);
  });
};
