import type { SucceededTask } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next`: the id to continue before, if there are older ones. */
export type GalleryPage = { readonly panoramas: readonly SucceededTask[]; readonly next: TaskId | undefined };

export type ListPublicPanoramas = ReturnType<typeof listPublicPanoramas>;

/** The public gallery: everybody's public panoramas whose image is kept, newest first. */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublic"> }) =>
  async (limit: number, before?: TaskId): Promise<GalleryPage> => {
    // One more than asked for tells whether there is another page.
    const found = await tasks.listPublic(limit + 1, before);
    const panoramas = found.slice(0, limit);
    return { panoramas, next: found.length > limit ? panoramas.at(-1)?.id : undefined };
  };
