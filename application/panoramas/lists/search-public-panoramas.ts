import type { ApplicationSettings } from "../../application-settings.js";
import { directionOf, pageOf, pagesBeside } from "../../page-of.js";
import type { TaskLists } from "../../ports/stores/tasks/task-lists.js";
import type { GalleryPage, GalleryRange } from "./list-public-panoramas.js";

/**
 * As `listPublicPanoramas`, only those whose prompt has these words (domain/tasks/prompt-search.ts; at least one word).
 */
export const searchPublicPanoramas =
  (
    { tasks }: { readonly tasks: Pick<TaskLists, "searchPublic"> },
    { gallery = "open" }: Pick<ApplicationSettings, "gallery"> = {},
  ) =>
  async (
    words: readonly string[],
    limit: number,
    { before, after, sort = "newest" }: GalleryRange = {},
  ): Promise<GalleryPage> => {
    if (gallery === "off") return { panoramas: [], next: undefined, newer: undefined };
    const [first, beyond] = directionOf(before, after, sort);
    const { items, last } = pageOf(await tasks.searchPublic(words, limit + 1, beyond, first), limit);
    return {
      panoramas: first === sort ? items : items.toReversed(),
      ...pagesBeside(first, beyond, items[0]?.id, last?.id),
    };
  };
