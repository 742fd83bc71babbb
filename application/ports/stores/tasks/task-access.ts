import type { Result } from "neverthrow";
import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { ObjectName } from "../../../../domain/images/object-name.js";
import type { StoredImage } from "../../../../domain/images/storage-status.js";
import type { DeletedBy, Hiding } from "../../../../domain/tasks/out-of-sight.js";
import type { Task } from "../../../../domain/tasks/task.js";
import type { Visibility } from "../../../../domain/tasks/visibility.js";
import type { NotFound } from "../../../errors.js";

export type ImageAddress = { readonly name: ObjectName } | { readonly temporaryUrl: string };

/** An operator has hidden the panorama: it cannot be public. */
export type IsHidden = { readonly kind: "hidden"; readonly reason: string };

/**
 * Access to tasks: the owner chooses the visibility, an operator may hide a task, and the owner may delete it. Throws
 * if the store is unreachable. Methods with an `owner` treat tasks of other accounts and deleted tasks like unknown
 * ids.
 */
export interface TaskAccess {
  /**
   * Makes a task public or private. `hidden`: an operator has hidden it, so it stays private. Known URLs of an image
   * stay readable: objects never change, and caches keep them.
   */
  setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound | IsHidden>>;

  /**
   * Hides a task from everybody but its owner: it is private, and stays private. `undefined` shows a hidden task again
   * with its owner's visibility; `not_found` if the task is not hidden.
   *
   * `nextName`: new name of a stored image (`StoredImage`) without a next name, recorded in the same transaction. The
   * work `keep` then renames the files, after a running lease ends.
   */
  hide(id: TaskId, hidden: Hiding | undefined, nextName?: () => ObjectName): Promise<Result<void, NotFound>>;

  /** Calls `hide` for up to `limit` public tasks of the account. Returns their number: 0 when none is left. */
  hideAll(owner: AccountId, hidden: Hiding, limit: number, nextName: () => ObjectName): Promise<number>;

  /** The task with this image, in any state; `undefined` if there is none, or it is deleted. */
  findByImage(name: ObjectName): Promise<Task | undefined>;

  /** True if the image, its thumbnail or its temporary URL belongs to a hidden panorama. */
  isHiddenImage(image: ImageAddress): Promise<boolean>;

  /**
   * Deletes the task. Only the ledger, the idempotency keys and, for a succeeded task, the work `erase` still find it.
   * `erase` is due now or, because a worker may still store an object, after a running lease. All other background work
   * on the task ends. Its reference images are released. Its events are deleted, except those with a pending delivery.
   * `by`: who deleted it.
   */
  delete(id: TaskId, owner: AccountId, now: Date, by?: DeletedBy): Promise<Result<void, NotFound>>;

  /** True if the owner has deleted this task. */
  isDeleted(id: TaskId, owner: AccountId): Promise<boolean>;

  /** The image of a task, unless the task is deleted or the image has expired. */
  wantedImage(id: TaskId): Promise<StoredImage | undefined>;
}
