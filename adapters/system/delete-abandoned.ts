import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

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
