import type { Result } from "neverthrow";
import type { ObjectName } from "../../domain/images/object-name.js";
import type { NotFound } from "../errors.js";

/** The storage is unreachable or returns an error. The call may be retried. */
export type StorageUnavailable = { readonly kind: "storage_unavailable"; readonly reason: string };

/** Permanent storage for images. A stored object never changes. */
export interface ObjectStorage {
  /** Stores the whole object or nothing. Succeeds without a write if an object of this name exists. */
  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>>;
  read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>>;
  /** True if the object exists. Does not read its bytes. */
  has(name: ObjectName): Promise<Result<boolean, StorageUnavailable>>;
  /** Deletes the object. Succeeds if there is none. */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>>;
  /** The names of all objects that begin with `prefix`, such as `generations/`, also of those stored just now. */
  list(prefix: string): Promise<Result<ObjectName[], StorageUnavailable>>;
  /** The permanent public URL. For reference images it always starts with `https://`. */
  urlOf(name: ObjectName): string;
  /** The name of the object that a URL of this storage points to; `undefined` for any other URL. */
  nameOf(url: string): ObjectName | undefined;
}
