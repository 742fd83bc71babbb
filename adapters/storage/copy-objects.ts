import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectName } from "../../domain/images/object-name.js";
import { isFileError, syncFolder } from "../system/files.js";

const CONCURRENCY = 8;
const FOLDERS = ["panoramas", "references"] as const;

/** The copied objects, and the objects missing in the storage. */
export type CopiedObjects = { readonly objects: number; readonly missing: readonly ObjectName[] };

/**
 * Makes `target` a copy of these objects of a `filesystemObjectStorage`, and of all uploaded images. Objects never
 * change, so those that `target` has from an earlier call are not copied again; what was deleted since is deleted
 * there, too.
 */
export const copyObjects = async (
  source: string,
  target: string,
  pages: AsyncIterable<readonly ObjectName[]>,
): Promise<CopiedObjects> => {
  for (const folder of FOLDERS) await mkdir(join(target, folder), { recursive: true });
  const there = new Set((await Promise.all(FOLDERS.map((folder) => namesIn(target, folder)))).flat());
  const wanted = new Set<ObjectName>();
  const missing: ObjectName[] = [];
  const copyAll = async (names: readonly ObjectName[], isMissing: (name: ObjectName) => void) => {
    for (let at = 0; at < names.length; at += CONCURRENCY) {
      const some = names.slice(at, at + CONCURRENCY);
      const copied = await Promise.all(
        some.map(async (name) => there.has(name) || copy(join(source, name), join(target, name))),
      );
      for (const [n, name] of some.entries()) copied[n] ? wanted.add(name) : isMissing(name);
    }
  };
  for await (const names of pages) await copyAll(names, (name) => missing.push(name));
  const uploads = await namesIn(source, "references");
  await copyAll(
    uploads.filter((name) => !wanted.has(name)),
    () => {}, // it has expired in the meantime
  );
  for (const name of there) if (!wanted.has(name)) await rm(join(target, name));
  for (const folder of FOLDERS) await syncFolder(join(target, folder));
  return { objects: wanted.size, missing };
};

const namesIn = async (storage: string, folder: string): Promise<ObjectName[]> => {
  try {
    return (await readdir(join(storage, folder))).map((name) => `${folder}/${name}` as ObjectName);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return [];
    throw error;
  }
};

/** Returns `false` if there is no such file. A file system that can shares the blocks of both files. */
const copy = async (from: string, to: string): Promise<boolean> => {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return false;
    throw error;
  }
  const file = await open(to, "r+");
  await file.sync().finally(() => file.close());
  return true;
};
