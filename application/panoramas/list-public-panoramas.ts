import type { SucceededTask } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { pageOf } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";

/**
 * Newest first. `next`: pass it as `before` to read the next older page; `undefined` on the last page. `newer`: pass it as
 * `after` to read the next newer page; `undefined` on the first page.
 */
export type GalleryPage = {
  readonly panoramas: readonly SucceededTask[];
  readonly next: TaskId | undefined;
  readonly newer: TaskId | undefined;
};

/** What `listPublicPanoramas` returns. */
export type ListPublicPanoramas = ReturnType<typeof listPublicPanoramas>;

/**
 * The public gallery: public panoramas of all accounts whose image is in permanent storage, newest first: those older than
 * `before`, or the next ones newer than `after`.
 */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublic"> }) =>
  async (limit: number, before?: TaskId, after?: TaskId): Promise<GalleryPage> => {
    if (after !== undefined) {
      const { items, last } = pageOf(await tasks.listPublic(limit + 1, after, "oldest"), limit);
      return { panoramas: items.toReversed(), next: items[0]?.id, newer: last?.id };
    }
    const { items, last } = pageOf(await tasks.listPublic(limit + 1, before), limit);
    return { panoramas: items, next: last?.id, newer: before && items[0]?.id };
  };
