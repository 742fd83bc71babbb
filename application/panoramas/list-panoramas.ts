import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Resolution } from "../../domain/images/resolution.js";
import { isFoundBy } from "../../domain/tasks/prompt-search.js";
import type { SucceededTask, Task } from "../../domain/tasks/task.js";
import type { TaskFilter } from "../../domain/tasks/task-filter.js";
import type { ApplicationSettings } from "../application-settings.js";
import { directionOf, type NeighbourCursors, neighbourCursors, type PageStart, pageOf } from "../page-of.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";

/** `next`: pass it as `before` to read the next page; `newer`: as `after`; `undefined` if there is none. */
type TaskPage = NeighbourCursors & { readonly tasks: readonly Task[] };

/** Page and filter of the owner's tasks. */
type TaskRange = PageStart & { readonly filter?: TaskFilter | undefined };

/** `GET /panoramas`: the account's tasks that match the filter, newest first, `limit` at a time. */
export const listTasks =
  ({ tasks }: { readonly tasks: Pick<TaskLists, "list"> }) =>
  async (owner: AccountId, limit: number, { before, after, filter }: TaskRange = {}): Promise<TaskPage> => {
    const [first, beyond] = directionOf(before, after, "newest");
    const { items, last } = pageOf(await tasks.list(owner, limit + 1, beyond, { filter, first }), limit);
    return {
      tasks: first === "newest" ? items : items.toReversed(),
      ...neighbourCursors(first, beyond, items[0]?.id, last?.id),
    };
  };

/** The owner's search. `words`: of `searchWords`; an empty list matches every prompt. */
type OwnSearch = Pick<TaskFilter, "status" | "visibility"> & {
  readonly words: readonly string[];
  readonly resolution?: Resolution | undefined;
};

/** `next`: pass it as `before` to go on; `undefined` at the end. A page may be empty and still have a `next` one. */
export type OwnSearchPage = { readonly tasks: readonly Task[]; readonly next: TaskId | undefined };

const READ_AT_ONCE = 100;
/**
 * Work limit of one call, in compared characters of prompts (some milliseconds). A task without a prompt counts too.
 */
const CHARACTERS_MAX = 100_000;
const CHARACTERS_PER_TASK = 200;

/**
 * The account's own tasks that match, newest first. Prompts of private panoramas are in no index, so this reads tasks
 * until it has `limit` matches or reaches its work limit: an old account makes no request more expensive.
 */
export const searchOwnTasks =
  ({ tasks }: { readonly tasks: Pick<TaskLists, "list"> }) =>
  async (owner: AccountId, search: OwnSearch, limit: number, before?: TaskId): Promise<OwnSearchPage> => {
    const { words, resolution, ...filter } = search;
    const found: Task[] = [];
    let beyond = before;
    let characters = 0;
    for (;;) {
      const read = await tasks.list(owner, READ_AT_ONCE, beyond, { filter });
      for (const task of read) {
        if (found.length === limit || characters >= CHARACTERS_MAX) return { tasks: found, next: beyond };
        beyond = task.id;
        const { prompt = "", resolution: its } = task.request;
        characters += CHARACTERS_PER_TASK + (words.length === 0 ? 0 : prompt.length);
        if ((resolution === undefined || its === resolution) && isFoundBy(words, prompt)) found.push(task);
      }
      if (read.length < READ_AT_ONCE) return { tasks: found, next: undefined };
    }
  };

/** `next` is `before` for the older page, `newer` is `after` for the newer one; `undefined` if there is none. */
type GalleryPage = NeighbourCursors & { readonly panoramas: readonly SucceededTask[] };

/** Page and order of the gallery. */
type GalleryRange = PageStart & { readonly sort?: "newest" | "oldest" | undefined };

/**
 * The public gallery: public panoramas of all accounts whose image is in permanent storage, in the order `sort`; none
 * in the mode `off`. Without `before` and `after`, the first page.
 */
export const listPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskLists, "listPublic"> }, settings: GallerySettings = {}) =>
  (limit: number, range: GalleryRange = {}): Promise<GalleryPage> =>
    readGallery(settings, limit, range, (...page) => tasks.listPublic(...page));

/** `listPublicPanoramas` for the prompts with these words (domain/tasks/prompt-search.ts; at least one word). */
export const searchPublicPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskLists, "searchPublic"> }, settings: GallerySettings = {}) =>
  (words: readonly string[], limit: number, range: GalleryRange = {}): Promise<GalleryPage> =>
    readGallery(settings, limit, range, (...page) => tasks.searchPublic(words, ...page));

type GallerySettings = Pick<ApplicationSettings, "gallery">;

const readGallery = async (
  { gallery }: GallerySettings,
  limit: number,
  { before, after, sort = "newest" }: GalleryRange,
  read: TaskLists["listPublic"],
): Promise<GalleryPage> => {
  if (gallery === "off") return { panoramas: [], next: undefined, newer: undefined };
  const [first, beyond] = directionOf(before, after, sort);
  const { items, last } = pageOf(await read(limit + 1, beyond, first), limit);
  return {
    panoramas: first === sort ? items : items.toReversed(),
    ...neighbourCursors(first, beyond, items[0]?.id, last?.id),
  };
};
