import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { TaskId } from "../../domain/task-id.js";
import type { StartView } from "../../domain/tasks/start-view.js";
import type { NotFound } from "../errors.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/** The owner chooses where viewers of a panorama look first. */
export const chooseStartView =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "setStartView"> }) =>
  (id: TaskId, owner: AccountId, view: StartView): Promise<Result<void, NotFound>> =>
    tasks.setStartView(id, owner, view);
