import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { SucceededTask, Task } from "../../../../domain/tasks/task.js";
import type { TaskFilter } from "../../../../domain/tasks/task-filter.js";

/** Lists of tasks, without deleted and unreadable ones. Throws if the store is unreachable. */
export interface TaskLists {
  /**
   * At most `limit` tasks after the task `beyond`, which may be deleted, newest or oldest first. With a `filter`, only
   * the tasks that match it (domain/tasks/task-filter.ts).
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
   * Tasks of `listPublic` whose prompt has these words (domain/tasks/prompt-search.ts; at least one word). Uses an
   * index, so the time does not depend on the prompts. The transaction that publishes or withdraws a task updates the
   * index.
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
