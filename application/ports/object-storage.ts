import type { Result } from "neverthrow";
import type { ObjectName } from "../../domain/object-name.js";
import type { NotFound } from "../errors.js";

/** The storage cannot be reached or refuses to work; the call may be repeated. */
export type StorageUnavailable = { readonly kind: "storage_unavailable"; readonly reason: string };

/** Permanent storage for images. An object, once stored under a name, never changes. */
export interface ObjectStorage {
  /** Stores the whole object or nothing. If there is one of that name already, keeps it: that is a success. */
  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>>;
  read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>>;
  /** Removes the object; one that is not there is a success. */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>>;
  /** The permanent public URL; `https://` always for reference images. */
  urlOf(name: ObjectName): string;
  /** The name of the object behind a URL of this storage; `undefined` for any other URL. */
  nameOf(url: string): ObjectName | undefined;
}
