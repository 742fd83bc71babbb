import type { Result } from "neverthrow";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import type { Access, AccessRefused } from "./access.js";

/** A file of an upload. */
export type NewReference = {
  /** Digest of type and bytes. */
  readonly content: string;
  /** Size for the quota (domain/images/reference-image.ts). */
  readonly countedBytes: number;
  /** Name of the object, unless the content already has one. */
  readonly name: ObjectName;
};

/**
 * Records uploaded reference images, and which tasks use them (TaskStore). Accounts share the object of equal contents.
 * A name is `deletable` when no account has it unused and no task uses it. A deletable name is never used again: the
 * same content gets a new name. So even a late deletion cannot remove an image that is in use.
 *
 * Throws if the store is unreachable or a row is unreadable.
 */
export interface ReferenceStore {
  /** Throws if the account does not exist. */
  standing(account: AccountId): Promise<UploadStanding>;
  /** True if the content has an object that is not deletable. */
  has(content: string): Promise<boolean>;
  /**
   * Records the files as uploaded and unused at `now`, if `decide` allows it, and returns the name of each. `decide`
   * runs under a lock of the account. `addedBytes`: without contents that the account already has unused. The caller
   * stores the objects afterwards. Refuses a closed account, and an `access` that has ended.
   */
  add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<ObjectName[], Refusal | AccessRefused>>;
  /**
   * Expires up to `limit` unused images that were uploaded before `before`. Names without references become deletable
   * at `now`. Returns the number of names checked.
   */
  expire(before: Date, now: Date, limit: number): Promise<number>;
  /**
   * Leases up to `limit` deletable names until `until`, when they are deletable again. Includes names that are
   * deletable only after `until`: the clock was set back.
   */
  claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]>;
  /** Removes the name of a deleted object. */
  forget(name: ObjectName): Promise<void>;
}
