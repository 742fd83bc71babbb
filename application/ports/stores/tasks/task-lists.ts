import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { SucceededTask, Task } from "../../../../domain/tasks/task.js";
import type { TaskFilter } from "../../../../domain/tasks/task-filter.js";

/** Lists of tasks. Deleted tasks and unreadable ones are in none. Throws if the store is unreachable. */
export interface TaskLists {
  /**
   * Newest first, at most `limit`, older than the task `beyond`, which need not exist any more; or oldest first, and
   * newer than it. With a `filter`, only the tasks that match it (domain/tasks/task-filter.ts).
   */
  list(
    owner: AccountId,
    limit: number,
    beyond: TaskId | undefined,
    which?: { readonly filter?: TaskFilter | undefined; readonly first?: "newest" | "oldest" | undefined },
  ): Promise<Task[]>;

  /** Public panoramas of all accounts whose image is stored permanently; otherwise like `list`. */
  listPublic(limit: number, beyond: TaskId | undefined, first?: "newest" | "oldest"): Promise<SucceededTask[]>;

  /**
   * Those tasks of `listPublic` whose prompt these words find (domain/tasks/prompt-search.ts; at least one word). An
   * index does the search: its time does not depend on what the prompts are. A task enters and leaves the index in the
   * transaction that puts it into the gallery or takes it out.
   */
  searchPublic(
    words: readonly string[],
    limit: number,
    beyond: TaskId | undefined,
    first?: "newest" | "oldest",
  ): Promise<SucceededTask[]>;

  /** Finished tasks of all accounts whose image has the storage status `failed`; otherwise like `list`. */
  listFailedImages(limit: number, before: TaskId | undefined): Promise<SucceededTask[]>;
}
