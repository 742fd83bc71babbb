import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { storeFullOr } from "../../system/files.js";

/** Makes a folder below `parent` for the work, and deletes it afterwards. Rejects with `StoreFull` on a full disk. */
export const withTemporaryFolder = async <T>(
  parent: string,
  prefix: string,
  work: (folder: string) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(parent, prefix)).catch((error: unknown) => {
    throw storeFullOr(error);
  });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
