import type { AccountId } from "../../domain/ids.js";
import type { Slug } from "../../domain/tasks/slug.js";
import type { Task } from "../../domain/tasks/task.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/** `GET /works/{slug}`: the owner's panorama in any state. Foreign and unknown slugs both give `undefined`. */
export const findOwnPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug, owner: AccountId): Promise<Task | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.accountId === owner ? task : undefined;
  };
