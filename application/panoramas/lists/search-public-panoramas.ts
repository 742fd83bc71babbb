import type { TaskId } from "../../../domain/task-id.js";
import type { ApplicationSettings } from "../../application-settings.js";
import { directionOf, pageOf, pagesBeside } from "../../page-of.js";
import type { TaskLists } from "../../ports/stores/tasks/task-lists.js";
import type { GalleryPage } from "./list-public-panoramas.js";

/**
 * As `listPublicPanoramas`, only those whose prompt has these words (domain/tasks/prompt-search.ts; at least one word).
 * Only in the mode `open`: the index has all public panoramas, so others could make it slow to find the approved ones.
 */
export const searchPublicPanoramas =
  (
    { tasks }: { readonly tasks: Pick<TaskLists, "searchPublic"> },
    { gallery = "open" }: Pick<ApplicationSettings, "gallery"> = {},
  ) =>
  async (
    words: readonly string[],
    limit: number,
    before?: TaskId,
    after?: TaskId,
    sort: "newest" | "oldest" = "newest",
  ): Promise<GalleryPage> => {
    if (gallery !== "open") return { panoramas: [], next: undefined, newer: undefined };
    const [first, beyond] = directionOf(before, after, sort);
    const { items, last } = pageOf(await tasks.searchPublic(words, limit + 1, beyond, first), limit);
    return {
      panoramas: first === sort ? items : items.toReversed(),
      ...pagesBeside(first, beyond, items[0]?.id, last?.id),
    };
  };
