import type { Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Visibility } from "../../domain/tasks/visibility.js";
import type { NotFound } from "../errors.js";
import type { IsWithheld, TaskStore } from "../ports/stores/tasks/task-store.js";

/**
 * The owner makes a panorama public or private. Whoever knows the URL of the image may still open it: objects never
 * change, and caches keep them.
 */
export const changeVisibility =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "setVisibility"> }) =>
  (id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound | IsWithheld>> =>
    tasks.setVisibility(id, owner, visibility);
