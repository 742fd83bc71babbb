import type { Readable } from "node:stream";
import type { Result } from "neverthrow";
import type { NotFound } from "../../../application/errors.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import type { ObjectName } from "../../../domain/images/object-name.js";

/** Reads stored objects that this service serves itself. */
export type Assets = {
  stat(
    name: ObjectName,
  ): Promise<Result<{ readonly sizeBytes: number; readonly contentType: string }, NotFound | StorageUnavailable>>;
  /** The bytes from `start` to `end`, both inclusive. */
  stream(name: ObjectName, start: number, end: number): Readable;
};
