import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import { type ObjectName, parseObjectName } from "../../domain/images/object-name.js";

const ORIGIN = "https://objects.example/";

export class MemoryObjectStorage implements ObjectStorage {
  /** While this is false, every call returns `storage_unavailable`. */
  available = true;
  readonly objects = new Map<ObjectName, { readonly bytes: Uint8Array; readonly contentType: string }>();

  async put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>> {
    if (!this.available) return err(unavailable);
    if (!this.objects.has(name)) this.objects.set(name, { bytes: Uint8Array.from(bytes), contentType });
    return ok(undefined);
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    if (!this.available) return err(unavailable);
    const object = this.objects.get(name);
    return object === undefined ? err(notFound(`There is no object ${name}.`)) : ok(Uint8Array.from(object.bytes));
  }

  async has(name: ObjectName): Promise<Result<boolean, StorageUnavailable>> {
    return this.available ? ok(this.objects.has(name)) : err(unavailable);
  }

  async delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    if (!this.available) return err(unavailable);
    this.objects.delete(name);
    return ok(undefined);
  }

  async list(prefix: string): Promise<Result<ObjectName[], StorageUnavailable>> {
    return this.available ? ok([...this.objects.keys()].filter((name) => name.startsWith(prefix))) : err(unavailable);
  }

  urlOf(name: ObjectName): string {
    return `${ORIGIN}${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    return url.startsWith(ORIGIN) ? parseObjectName(url.slice(ORIGIN.length)) : undefined;
  }
}

const unavailable: StorageUnavailable = { kind: "storage_unavailable", reason: "the storage is switched off" };
