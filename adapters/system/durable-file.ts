import { randomUUID } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes the whole file, durably, or nothing; a file that is there already is kept. Tells whether it was written.
 * A crash can leave a file that ends in `.temporary` behind.
 */
export const writeOnce = async (path: string, bytes: Uint8Array | string): Promise<boolean> => {
  const temporary = `${path}.${randomUUID()}.temporary`;
  const file = await open(temporary, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
    // Unlike a rename, a link never replaces what another process has put there meanwhile.
    await link(temporary, path);
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return false;
    throw error;
  } finally {
    await file.close();
    await unlink(temporary);
  }
};

/** Makes the new name itself durable. Windows cannot open a folder, and needs not. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

export const isFileError = (error: unknown, code: "EEXIST" | "ENOENT"): boolean =>
  error instanceof Error && "code" in error && error.code === code;
