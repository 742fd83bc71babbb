import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import type { NotFound } from "../errors.js";
import type { TaskStore } from "../ports/task-store.js";

export type ChangeVisibility = ReturnType<typeof changeVisibility>;

/** The owner shows a panorama in the gallery, or takes it back. */
export const changeVisibility =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "setVisibility"> }) =>
  (id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>> =>
    tasks.setVisibility(id, owner, visibility);
