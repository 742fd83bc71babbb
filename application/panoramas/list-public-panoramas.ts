import type { SucceededTask } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { pageOf } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next` is `before` for the older page, `newer` is `after` for the newer one; `undefined` if there is none. */
export type GalleryPage = {
  readonly panoramas: readonly SucceededTask[];
  readonly next: TaskId | undefined;
  readonly newer: TaskId | undefined;
};

/** What `listPublicPanoramas` returns. */
export type ListPublicPanoramas = ReturnType<typeof listPublicPanoramas>;

/** The public gallery: public panoramas of all accounts whose image is in permanent storage, newest first. */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublic"> }) =>
  async (limit: number, before?: TaskId, after?: TaskId): Promise<GalleryPage> => {
    const { items, last } = pageOf(await tasks.listPublic(limit + 1, after ?? before, after && "oldest"), limit);
    return after === undefined
      ? { panoramas: items, next: last?.id, newer: before && items[0]?.id }
      : { panoramas: items.toReversed(), next: items[0]?.id, newer: last?.id };
  };
