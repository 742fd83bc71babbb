import { isFoundBy } from "../../domain/prompt-search.js";
import type { TaskId } from "../../domain/task-id.js";
import { directionOf, pagesBeside } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";
import type { GalleryPage } from "./list-public-panoramas.js";

/** What one search compares at most: anybody may search, and no index has the words of prompts. */
const PROMPTS_MAX = 2_000;
const CHARACTERS_MAX = 200_000;
/** Prompts per read. Most searches find a page of panoramas in the first ones. */
const PROMPTS_PER_READ = 250;

/** `isPartial`: the search has ended before the page was full, and there are more panoramas to search on the next page. */
export type FoundPanoramas = GalleryPage & { readonly isPartial: boolean };

/** What `searchPublicPanoramas` returns. */
export type SearchPublicPanoramas = ReturnType<typeof searchPublicPanoramas>;

/** As `listPublicPanoramas`, only those whose prompt has these words (domain/prompt-search.ts). */
export const searchPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "listPublicPrompts" | "findPublic"> }) =>
  async (
    words: readonly string[],
    limit: number,
    before?: TaskId,
    after?: TaskId,
    sort: "newest" | "oldest" = "newest",
  ): Promise<FoundPanoramas> => {
    const [first, beyond] = directionOf(before, after, sort);
    const { ids, last, isPartial } = await search(tasks, words, limit, beyond, first);
    const found = new Map((await tasks.findPublic(ids)).map((task) => [task.id, task]));
    const panoramas = ids.flatMap((id) => found.get(id) ?? []);
    return {
      panoramas: first === sort ? panoramas : panoramas.toReversed(),
      ...pagesBeside(first, beyond, ids[0] ?? last, last),
      isPartial,
    };
  };

/** `last` is the panorama after which the search goes on; `undefined` if all were searched. */
type Found = { readonly ids: readonly TaskId[]; readonly last: TaskId | undefined; readonly isPartial: boolean };

const search = async (
  tasks: Pick<TaskStore, "listPublicPrompts">,
  words: readonly string[],
  limit: number,
  beyond: TaskId | undefined,
  first: "newest" | "oldest",
): Promise<Found> => {
  const ids: TaskId[] = [];
  let last = beyond;
  let [searched, characters] = [0, 0];
  for (;;) {
    const read = await tasks.listPublicPrompts(PROMPTS_PER_READ, last, first);
    for (const { id, prompt } of read) {
      if (searched === PROMPTS_MAX || characters > CHARACTERS_MAX) return { ids, last, isPartial: true };
      if (isFoundBy(words, prompt)) {
        if (ids.length === limit) return { ids, last, isPartial: false };
        ids.push(id);
      }
      last = id;
      searched += 1;
      characters += prompt.length;
    }
    if (read.length < PROMPTS_PER_READ) return { ids, last: undefined, isPartial: false };
  }
};
