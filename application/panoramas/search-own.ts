import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Resolution } from "../../domain/images/resolution.js";
import { isFoundBy } from "../../domain/tasks/prompt-search.js";
import type { Task } from "../../domain/tasks/task.js";
import type { TaskFilter } from "../../domain/tasks/task-filter.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";

/** The owner's search. `words`: of `searchWords`; an empty list matches every prompt. */
export type OwnSearch = Pick<TaskFilter, "status" | "visibility"> & {
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
export async function searchOwn(
  tasks: Pick<TaskLists, "list">,
  owner: AccountId,
  search: OwnSearch,
  limit: number,
  before?: TaskId,
): Promise<OwnSearchPage> {
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
}
