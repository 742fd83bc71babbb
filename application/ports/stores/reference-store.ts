import type { Result } from "neverthrow";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";

/** A file of an upload. */
export type NewReference = {
  /** Equal for equal bytes of one type only. */
  readonly content: string;
  /** As the domain counts them (domain/images/reference-image.ts). */
  readonly countedBytes: number;
  /** The object's name, unless the content already has one. */
  readonly name: ObjectName;
};

/**
 * Records which reference images exist, which accounts have uploaded them without using them yet, and which tasks use
 * them (TaskStore). Accounts share the object of equal contents. An object may be deleted when its name is `deletable`:
 * no account has it unused, and no task uses it. From that moment on nothing can refer to the name, and the same
 * content gets a new one; so an upload or a creation never loses its image to a deletion, not even to one that is late.
 *
 * Throws if the store is unreachable or a row is unreadable.
 */
export interface ReferenceStore {
  /** Throws if the account does not exist. */
  standing(account: AccountId): Promise<UploadStanding>;
  /** Whether the content has an object that is not deletable. */
  has(content: string): Promise<boolean>;
  /**
   * Records the files as uploaded and unused at `now`, if `decide` allows it, and returns the name of each.
   * `addedBytes` counts only contents that the account does not have unused already. The account is locked, so that
   * concurrent uploads are counted. Records nothing if `decide` refuses. The caller stores the objects afterwards.
   */
  add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
  ): Promise<Result<ObjectName[], Refusal>>;
  /**
   * Forgets up to `limit` unused images that were uploaded before `before`, and makes those deletable at `now` that
   * nothing refers to any more. Returns the number of names that it looked at.
   */
  expire(before: Date, now: Date, limit: number): Promise<number>;
  /**
   * Returns up to `limit` names that are deletable at `now`, and makes each deletable again at `until`. Names that are
   * deletable only after `until` are returned too, up to `limit`: the clock was set back.
   */
  claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]>;
  /** Forgets a name whose object is deleted. */
  forget(name: ObjectName): Promise<void>;
}
