import { randomUUID } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { link, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import { FILE_EXTENSIONS, IMAGE_TYPES, type ImageType } from "../../domain/image-type.js";
import { type ObjectName, parseObjectName } from "../../domain/object-name.js";

export type StoredFile = { readonly sizeBytes: number; readonly contentType: ImageType };

/** A write that takes longer than this was killed: what it left behind may go. */
const ABANDONED_AFTER_MILLISECONDS = 60 * 60 * 1000;

/**
 * Objects as files below one folder: `references/…` and `panoramas/…`, just as they are named. Half-written ones are
 * in `incoming/`, whence a finished one moves in one step. Whoever serves the URLs reads with `stat` and `stream`.
 */
export class FilesystemObjectStorage implements ObjectStorage {
  private readonly folder: string;
  private readonly assetUrl: string;
  private readonly referenceUrl: string;

  /** `assetUrl` leads to panoramas, `referenceUrl` (https) to reference images; both without a slash at the end. */
  private constructor(folder: string, assetUrl: string, referenceUrl: string) {
    this.folder = folder;
    this.assetUrl = assetUrl;
    this.referenceUrl = referenceUrl;
  }

  /** Makes the folders if they are not there yet, and clears away what killed writes have left. */
  static async open(folder: string, assetUrl: string, referenceUrl: string): Promise<FilesystemObjectStorage> {
    const incoming = join(folder, "incoming");
    for (const path of [incoming, join(folder, "references"), join(folder, "panoramas")]) {
      await mkdir(path, { recursive: true });
    }
    for (const file of await readdir(incoming)) {
      const path = join(incoming, file);
      // None if another instance, at work right now, has moved its file out meanwhile.
      const left = await statIfThere(path);
      if (left !== undefined && left.mtimeMs < Date.now() - ABANDONED_AFTER_MILLISECONDS)
        await rm(path, { force: true });
    }
    return new FilesystemObjectStorage(folder, assetUrl, referenceUrl);
  }

  async put(name: ObjectName, bytes: Uint8Array): Promise<Result<void, StorageUnavailable>> {
    try {
      if ((await statIfThere(this.pathOf(name))) === undefined) await this.write(name, bytes);
      // Also for a file that was there: whoever wrote it may have died before this step.
      await syncFolder(join(this.pathOf(name), ".."));
      return ok(undefined);
    } catch (error) {
      return unavailable(error);
    }
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    try {
      return ok(await readFile(this.pathOf(name)));
    } catch (error) {
      return isErrno(error, "ENOENT") ? missing(name) : unavailable(error);
    }
  }

  async delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    try {
      await rm(this.pathOf(name), { force: true });
      await syncFolder(join(this.pathOf(name), ".."));
      return ok(undefined);
    } catch (error) {
      return unavailable(error);
    }
  }

  async stat(name: ObjectName): Promise<Result<StoredFile, NotFound | StorageUnavailable>> {
    try {
      const file = await statIfThere(this.pathOf(name));
      return file === undefined ? missing(name) : ok({ sizeBytes: file.size, contentType: typeOf(name) });
    } catch (error) {
      return unavailable(error);
    }
  }

  /** The bytes from `start` to `end`, both included, of an object that `stat` has found. */
  stream(name: ObjectName, start: number, end: number): Readable {
    return createReadStream(this.pathOf(name), { start, end });
  }

  urlOf(name: ObjectName): string {
    return `${name.startsWith("references/") ? this.referenceUrl : this.assetUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    const name = parseObjectName(url.split("/").slice(-2).join("/"));
    return name !== undefined && this.urlOf(name) === url ? name : undefined;
  }

  /** Links instead of renaming: of two writers of one name the first wins, and no object ever changes. */
  private async write(name: ObjectName, bytes: Uint8Array): Promise<void> {
    const incoming = join(this.folder, "incoming", randomUUID());
    try {
      await writeDurably(incoming, bytes);
      await link(incoming, this.pathOf(name));
    } catch (error) {
      if (!isErrno(error, "EEXIST")) throw error;
    } finally {
      await rm(incoming, { force: true });
    }
  }

  /** Never leaves the folder: an object name has no `..`, and just one slash. */
  private pathOf(name: ObjectName): string {
    return join(this.folder, name);
  }
}

const typeOf = (name: ObjectName): ImageType => {
  const type = IMAGE_TYPES.find((type) => name.endsWith(`.${FILE_EXTENSIONS[type]}`));
  if (type === undefined) throw new Error(`${name} has no extension of an image`);
  return type;
};

const statIfThere = async (path: string): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
};

const writeDurably = async (path: string, bytes: Uint8Array): Promise<void> => {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Makes the names in a folder survive a power cut. Windows cannot open folders, and does not need to. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

const missing = (name: ObjectName) => err(notFound(`There is no object ${name}.`));

const unavailable = (error: unknown) =>
  err({ kind: "storage_unavailable" as const, reason: error instanceof Error ? error.message : String(error) });
