import type { TaskId } from "../../domain/task-id.js";
import { directionOf, pageOf, pagesBeside } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";
import type { GalleryPage } from "./list-public-panoramas.js";

/** What `searchPublicPanoramas` returns. */
export type SearchPublicPanoramas = ReturnType<typeof searchPublicPanoramas>;

/** As `listPublicPanoramas`, only those whose prompt has these words (domain/prompt-search.ts; at least one word). */
export const searchPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "searchPublic"> }) =>
  async (
    words: readonly string[],
    limit: number,
    before?: TaskId,
    after?: TaskId,
    sort: "newest" | "oldest" = "newest",
  ): Promise<GalleryPage> => {
    const [first, beyond] = directionOf(before, after, sort);
    const { items, last } = pageOf(await tasks.searchPublic(words, limit + 1, beyond, first), limit);
    return {
      panoramas: first === sort ? items : items.toReversed(),
      ...pagesBeside(first, beyond, items[0]?.id, last?.id),
    };
  };
