import type { AccountId } from "../../domain/account.js";
import type { Slug } from "../../domain/slug.js";
import type { Task } from "../../domain/task.js";
import type { TaskStore } from "../ports/task-store.js";

/** What `findOwnPanorama` returns. */
export type FindOwnPanorama = ReturnType<typeof findOwnPanorama>;

/** `GET /works/{slug}`: the owner's panorama in any state. Foreign and unknown slugs both give `undefined`. */
export const findOwnPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug, owner: AccountId): Promise<Task | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.accountId === owner ? task : undefined;
  };
