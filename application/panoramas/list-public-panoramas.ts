import type { SucceededTask } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { pageOf } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
export type GalleryPage = { readonly panoramas: readonly SucceededTask[]; readonly next: TaskId | undefined };

/** What `listPublicPanoramas` returns. */
export type ListPublicPanoramas = ReturnType<typeof listPublicPanoramas>;

/** The public gallery: public panoramas of all accounts whose image is in permanent storage, newest first. */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublic"> }) =>
  async (limit: number, before?: TaskId): Promise<GalleryPage> => {
    const { items, last } = pageOf(await tasks.listPublic(limit + 1, before), limit);
    return { panoramas: items, next: last?.id };
  };
