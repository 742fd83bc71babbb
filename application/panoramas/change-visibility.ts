import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import type { NotFound } from "../errors.js";
import type { TaskStore } from "../ports/task-store.js";

/** What `changeVisibility` returns. */
export type ChangeVisibility = ReturnType<typeof changeVisibility>;

/** The owner makes a panorama public or private. */
export const changeVisibility =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "setVisibility"> }) =>
  (id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>> =>
    tasks.setVisibility(id, owner, visibility);
