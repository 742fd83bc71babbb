import type { Result } from "neverthrow";
import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { ObjectName } from "../../../../domain/images/object-name.js";
import type { StoredImage } from "../../../../domain/images/storage-status.js";
import type { DeletedBy, Hiding } from "../../../../domain/tasks/out-of-sight.js";
import type { Visibility } from "../../../../domain/tasks/visibility.js";
import type { NotFound } from "../../../errors.js";

/** Where an image can be read. */
export type ImageAddress = { readonly name: ObjectName } | { readonly temporaryUrl: string };

/** An operator has hidden the panorama: it cannot be public. */
export type IsHidden = { readonly kind: "hidden"; readonly reason: string };

/**
 * Who may see a task: its owner decides, an operator may hide it, and its owner may delete it. Throws if the store is
 * unreachable. Methods with an `owner` treat tasks of other accounts and deleted tasks like unknown ids.
 */
export interface TaskAccess {
  /** What an operator has hidden stays private. */
  setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound | IsHidden>>;

  /**
   * Hides a task from everybody but its owner: it is private, and stays so. With `undefined`, a task that was hidden
   * has the visibility that its owner chose. Others are not found.
   *
   * `nextName`: the same transaction records it for an image that is kept (`StoredImage`) and has no next name yet, and
   * makes the work `keep` due: while it is leased, as soon as its holder gives it back.
   */
  hide(id: TaskId, hidden: Hiding | undefined, nextName?: () => ObjectName): Promise<Result<void, NotFound>>;

  /**
   * `hide` for up to `limit` public tasks of the account. Returns how many there were: 0 when none is left.
   */
  hideAll(owner: AccountId, hidden: Hiding, limit: number, nextName: () => ObjectName): Promise<number>;

  /**
   * Whether the image, its thumbnail, or what is at this temporary URL belongs to a panorama that an operator has
   * hidden.
   */
  isHiddenImage(image: ImageAddress): Promise<boolean>;

  /**
   * Deletes the task: nothing finds it any more except the ledger, the idempotency keys and, if it had succeeded, the
   * work `erase`. That is due now, or when the worker that has leased the task gives it back or its lease expires:
   * until then the worker may still store an object. All other background work on the task ends. It no longer uses its
   * reference images. Its events are deleted, unless a delivery of them is pending. `by`: who deletes it.
   */
  delete(id: TaskId, owner: AccountId, now: Date, by?: DeletedBy): Promise<Result<void, NotFound>>;

  /** Whether the owner has deleted this task. */
  isDeleted(id: TaskId, owner: AccountId): Promise<boolean>;

  /** The image whose objects are wanted: not of a deleted task, and not one that has expired. */
  wantedImage(id: TaskId): Promise<StoredImage | undefined>;
}
