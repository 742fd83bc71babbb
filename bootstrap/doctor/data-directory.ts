import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { broken, type Finding, fine, notChecked, reasonOf, warning } from "./finding.js";
import type { Machine } from "./machine.js";

const MEBIBYTE = 1024 * 1024;
/** Below this, the database or an image may not be written any more. */
const FREE_BYTES_NEEDED = 256 * MEBIBYTE;
/** Some hundred panoramas at 4k. */
const FREE_BYTES_RECOMMENDED = 2048 * MEBIBYTE;
const FREE_FILES_NEEDED = 1_000;

/** One sentence for a folder that `serve` can neither make nor write to. */
export const unwritableDataDir = (dataDir: string, error: unknown): string =>
  `DATA_DIR ${dataDir} cannot be written: ${reasonOf(error)}. Give the user of the service the right to write there, or set another folder.`;

/** DATA_DIR, or the folder in which `serve` would make it, and the space there. */
export const checkDataDirectory = async (dataDir: string, machine: Machine): Promise<readonly Finding[]> => {
  const folder = existingPart(resolve(dataDir));
  try {
    await access(`${folder}/.`, constants.W_OK | constants.X_OK); // fails if it is a file
    const { freeBytes, freeFiles } = await machine.freeSpace(folder);
    return [existence(dataDir), spaceIn(dataDir, freeBytes, freeFiles)];
  } catch (error) {
    const unwritable = broken("data directory", "configuration", unwritableDataDir(dataDir, error));
    return [unwritable, notChecked("disk space", "DATA_DIR must be writable first.")];
  }
};

const existingPart = (path: string): string => (existsSync(path) ? path : existingPart(dirname(path)));

const existence = (dataDir: string): Finding =>
  existsSync(dataDir)
    ? fine("data directory", `DATA_DIR ${dataDir} can be written.`)
    : warning("data directory", `There is no DATA_DIR ${dataDir}. Check the name; panorama serve makes the folder.`);

const spaceIn = (dataDir: string, freeBytes: number, freeFiles: number): Finding => {
  const name = "disk space";
  const gibibytes = (freeBytes / MEBIBYTE / 1024).toFixed(1);
  if (freeFiles < FREE_FILES_NEEDED) {
    return broken(
      name,
      "failed",
      `The file system of DATA_DIR ${dataDir} has room for ${freeFiles} more files. Delete some.`,
    );
  }
  const says = `The file system of DATA_DIR ${dataDir} has ${gibibytes} GiB of free space`;
  if (freeBytes < FREE_BYTES_NEEDED) return broken(name, "failed", `${says}. Free some, or no more images are stored.`);
  return freeBytes < FREE_BYTES_RECOMMENDED ? warning(name, `${says}. Free some soon.`) : fine(name, `${says}.`);
};
