import type { SucceededTask } from "../../../domain/tasks/task.js";
import type { ApplicationSettings } from "../../application-settings.js";
import { directionOf, type PageStart, type PagesBeside, pageOf, pagesBeside } from "../../page-of.js";
import type { TaskLists } from "../../ports/stores/tasks/task-lists.js";

/** `next` is `before` for the older page, `newer` is `after` for the newer one; `undefined` if there is none. */
export type GalleryPage = PagesBeside & { readonly panoramas: readonly SucceededTask[] };

/** What a visitor reads of the gallery. */
export type GalleryRange = PageStart & { readonly sort?: "newest" | "oldest" | undefined };

/**
 * The public gallery: public panoramas of all accounts whose image is in permanent storage, in the order `sort`; in the
 * mode `off` none. Without `before` and `after` it begins with the first ones of this order.
 */
export const listPublicPanoramas =
  (
    { tasks }: { readonly tasks: Pick<TaskLists, "listPublic"> },
    { gallery = "open" }: Pick<ApplicationSettings, "gallery"> = {},
  ) =>
  async (limit: number, { before, after, sort = "newest" }: GalleryRange = {}): Promise<GalleryPage> => {
    if (gallery === "off") return { panoramas: [], next: undefined, newer: undefined };
    const [first, beyond] = directionOf(before, after, sort);
    const { items, last } = pageOf(await tasks.listPublic(limit + 1, beyond, first), limit);
    return {
      panoramas: first === sort ? items : items.toReversed(),
      ...pagesBeside(first, beyond, items[0]?.id, last?.id),
    };
  };
