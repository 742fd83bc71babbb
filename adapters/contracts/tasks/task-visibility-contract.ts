import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskId } from "../../../domain/ids.js";
import { succeed, type Task } from "../../../domain/tasks/task.js";
import { aNativeSize, anImageName, noon, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Public view of tasks: `setVisibility`, `listPublic`. */
export const describeVisibility = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, generated, succeeded, kept } = on;
  let tasks: TaskStore & TaskAccess & TaskLists;

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
};
