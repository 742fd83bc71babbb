import { createReadStream, type Stats } from "node:fs";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import { FILE_EXTENSIONS, IMAGE_TYPES, type ImageType } from "../../domain/images/image-type.js";
import { OBJECT_FOLDERS, type ObjectName } from "../../domain/images/object-name.js";
import { deleteAbandoned, isFileError, syncFolder, writeOnce } from "../system/files.js";
import { objectNameOf, objectNamesIn } from "./stored-object.js";

/** Folders of the files, and the URLs at which they are served. URLs have no trailing slash. */
export type FilesystemObjectStorageOptions = {
  /** Is created if it is missing. Processes may share it. */
  readonly folder: string;
  /** The URL below which panoramas are served, such as `https://panoramas.example/assets`. */
  readonly assetUrl: string;
  /** The base URL of reference images: https, because providers read them there. By default `assetUrl`. */
  readonly referenceUrl?: string | undefined;
};

/** Facts of a stored file that need no reading of its bytes. */
export type StoredFile = { readonly sizeBytes: number; readonly contentType: ImageType };

/** Objects as files. The HTTP server that serves their URLs reads them with `stat` and `stream`. */
export interface FilesystemObjectStorage extends ObjectStorage {
  /** Size and type of an object. */
  stat(name: ObjectName): Promise<Result<StoredFile, NotFound | StorageUnavailable>>;
  /** The bytes from `start` to `end`, both inclusive, of an object that `stat` has found. */
  stream(name: ObjectName, start: number, end: number): Readable;
}

/**
 * Opens an object storage in a folder; an object's name is its path (`OBJECT_FOLDERS`). Writes are durable and atomic:
 * their temporary files are in `incoming/`, and those of killed processes are deleted now. Rejects if the folder cannot
 * be written.
 */
export const filesystemObjectStorage = async ({
  folder,
  assetUrl,
  referenceUrl = assetUrl,
}: FilesystemObjectStorageOptions): Promise<FilesystemObjectStorage> => {
  const incoming = join(folder, "incoming");
  for (const name of ["incoming", ...OBJECT_FOLDERS]) await mkdir(join(folder, name), { recursive: true });
  await deleteAbandoned(incoming);
  return new FolderOfObjects(folder, assetUrl, referenceUrl);
};

class FolderOfObjects implements FilesystemObjectStorage {
  private readonly folder: string;
  private readonly assetUrl: string;
  private readonly referenceUrl: string;

  constructor(folder: string, assetUrl: string, referenceUrl: string) {
    this.folder = folder;
    this.assetUrl = assetUrl;
    this.referenceUrl = referenceUrl;
  }

  async put(name: ObjectName, bytes: Uint8Array): Promise<Result<void, StorageUnavailable>> {
    try {
      const path = this.pathOf(name);
      if ((await statIfExists(path)) === undefined) await writeOnce(path, bytes, join(this.folder, "incoming"));
      // The process that wrote the file may have been killed before this step.
      else await syncFolder(dirname(path));
      return ok(undefined);
    } catch (error) {
      return unavailable(error);
    }
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    try {
      return ok(await readFile(this.pathOf(name)));
    } catch (error) {
      return isFileError(error, "ENOENT") ? missing(name) : unavailable(error);
    }
  }

  async delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    try {
      const path = this.pathOf(name);
      await rm(path, { force: true });
      await syncFolder(dirname(path));
      return ok(undefined);
    } catch (error) {
      return unavailable(error);
    }
  }

  async stat(name: ObjectName): Promise<Result<StoredFile, NotFound | StorageUnavailable>> {
    try {
      const file = await statIfExists(this.pathOf(name));
      return file === undefined ? missing(name) : ok({ sizeBytes: file.size, contentType: typeOf(name) });
    } catch (error) {
      return unavailable(error);
    }
  }

  async has(name: ObjectName): Promise<Result<boolean, StorageUnavailable>> {
    return (await this.stat(name))
      .map(() => true)
      .orElse((error) => (error.kind === "not_found" ? ok(false) : err(error)));
  }

  async list(prefix: string): Promise<Result<ObjectName[], StorageUnavailable>> {
    try {
      const folder = dirname(`${prefix}.`);
      const names = objectNamesIn((await readdir(join(this.folder, folder))).map((file) => `${folder}/${file}`));
      return ok(names.filter((name) => name.startsWith(prefix)));
    } catch (error) {
      return unavailable(error);
    }
  }

  stream(name: ObjectName, start: number, end: number): Readable {
    return createReadStream(this.pathOf(name), { start, end });
  }

  urlOf(name: ObjectName): string {
    return `${name.startsWith("references/") ? this.referenceUrl : this.assetUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    return objectNameOf(url, (name) => this.urlOf(name));
  }

  /** The path is always inside the folder: an object name has exactly one slash and no `..`. */
  private pathOf(name: ObjectName): string {
    return join(this.folder, name);
  }
}

/** The name of every object ends as one of these types does. */
const typeOf = (name: ObjectName): ImageType =>
  IMAGE_TYPES.find((type) => name.endsWith(`.${FILE_EXTENSIONS[type]}`)) as ImageType;

const statIfExists = async (path: string): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  }
};

const missing = (name: ObjectName) => err(notFound(`There is no object ${name}.`));

const unavailable = (error: unknown) =>
  err({ kind: "storage_unavailable" as const, reason: error instanceof Error ? error.message : String(error) });
