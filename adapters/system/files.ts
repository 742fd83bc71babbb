import { randomUUID } from "node:crypto";
import { link, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StoreFull } from "../../application/ports/stores/store-errors.js";

/** True if a file operation failed because the file exists already (`EEXIST`) or does not exist (`ENOENT`). */
export const isFileError = (error: unknown, code: "EEXIST" | "ENOENT"): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** No room on the disk, or in the quota of the user. */
const FULL = new Set<unknown>(["ENOSPC", "EDQUOT"]);

/** The error of a file operation; `StoreFull` if there was no room. */
export const storeFullOr = (error: unknown): unknown =>
  error instanceof Error && "code" in error && FULL.has(error.code)
    ? new StoreFull(`A disk of the service is full: ${error.message}`, { cause: error })
    : error;

/** No upload and no write takes this long: an older entry was left behind by a process that was killed. */
const ABANDONED_AFTER_MILLISECONDS = 60 * 60 * 1000;

/** Deletes the files and folders in `folder` that killed processes have left there. Running processes may share it. */
export const deleteAbandoned = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY })); // deleted since
    if (mtimeMs < Date.now() - ABANDONED_AFTER_MILLISECONDS) await rm(path, { recursive: true, force: true });
  }
};

/**
 * Creates the file with all its bytes, or not at all; an existing file stays as it is. Resolves when the file would
 * survive a power failure: to `true` if this call created it. If several processes write the same file, the first wins.
 *
 * The bytes go to a temporary file first. If the process is killed, a file that ends in `.temporary` can remain in
 * `temporaryFolder`, which must be on the same file system as `path`.
 */
export const writeOnce = async (
  path: string,
  bytes: Uint8Array | string,
  temporaryFolder = dirname(path),
): Promise<boolean> => {
  const temporary = join(temporaryFolder, `${randomUUID()}.temporary`);
  const file = await open(temporary, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
    const created = await linkUnlessExists(temporary, path);
    // Also for an existing file: its writer may have been killed before this step.
    await syncFolder(dirname(path));
    return created;
  } finally {
    // Some file systems notice only now that the disk is full.
    await file.close().finally(() => rm(temporary, { force: true }));
  }
};

/** Makes new and deleted names in the folder survive a power failure. Windows neither supports nor needs this. */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** Unlike a rename, a link never replaces a file that another process has created in the meantime. */
const linkUnlessExists = async (temporary: string, path: string): Promise<boolean> => {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return false;
    throw error;
  }
};
