import type { SucceededTask } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
export type GalleryPage = { readonly panoramas: readonly SucceededTask[]; readonly next: TaskId | undefined };

export type ListPublicPanoramas = ReturnType<typeof listPublicPanoramas>;

/** The public gallery: public panoramas of all accounts whose image is in permanent storage, newest first. */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublic"> }) =>
  async (limit: number, before?: TaskId): Promise<GalleryPage> => {
    // Reads one item more than `limit` to find out whether there is another page.
    const found = await tasks.listPublic(limit + 1, before);
    const panoramas = found.slice(0, limit);
    return { panoramas, next: found.length > limit ? panoramas.at(-1)?.id : undefined };
  };
