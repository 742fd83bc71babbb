import { constants, existsSync, lstatSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { OBJECT_FOLDERS } from "../../domain/images/object-name.js";
import type { Config } from "../config.js";
import { broken, type Finding, fine, notChecked, reasonOf, warning } from "./finding.js";
import type { Machine } from "./machine.js";

const MEBIBYTE = 1024 * 1024;
/** Below this, the database or an image may not be written any more. */
const FREE_BYTES_NEEDED = 256 * MEBIBYTE;
/** Some hundred panoramas at 4k. */
const FREE_BYTES_RECOMMENDED = 2048 * MEBIBYTE;
const FREE_FILES_NEEDED = 1_000;

const RIGHTS = "Give the user of the service the right to write there, or set another folder";
const FREE = "Free some space, or set another folder";
const MOVE = "Move it away, or set another folder";

/** What an error of the system means, or one of SQLite by its message; and what to do. */
const CAUSES: readonly (readonly [codeOrMessage: RegExp, why: string, remedy: string])[] = [
  [/^EROFS$/, "its file system can only be read", "Mount it for writing, or set another folder"],
  [/^ENOSPC$|database or disk is full/i, "its file system is full", FREE],
  [/^EDQUOT$/, "its quota is used up", FREE],
  [/^EFBIG$/, "a file of the process may not be so large", "Raise the limit: LimitFSIZE= of systemd, ulimit -f"],
  [/^(ENOTDIR|EEXIST)$/, "a file is where a folder must be", MOVE],
  [/^EISDIR$/, "a folder is where a file must be", MOVE],
  [/^ELOOP$/, "symbolic links lead to each other", "Correct them, or set another folder"],
  [/^ENOENT$/, "there is none, and none can be made", "Correct the name or the symbolic link, or set another folder"],
  [/^ENAMETOOLONG$/, "the name is too long", "Set another folder"],
  [/^EIO$|disk I\/O error/i, "the disk reports an error", "Check the disk"],
  [/^E(ACCES|PERM)$|open database file|readonly database/i, "the user of the service has no right to use it", RIGHTS],
];

/** One sentence for a file or folder in DATA_DIR, or DATA_DIR itself, that `serve` cannot use. */
export const unusableDataDir = (dataDir: string, error: unknown): string | undefined => {
  type Known = { readonly [Name in "code" | "path" | "dest" | "message"]?: string };
  const { code, path, dest = path, message } = (error ?? {}) as Known;
  const text = code !== undefined && /^E[A-Z]+$/.test(code) ? code : String(message);
  const [, why, remedy] = CAUSES.find(([words]) => words.test(text)) ?? [];
  const isElsewhere = dest !== undefined && !`${resolve(dest)}/`.startsWith(existingPart(resolve(dataDir)));
  if (why === undefined || isElsewhere) return undefined;
  const where = dest === undefined || resolve(dest) === resolve(dataDir) ? "" : ` ${resolve(dest)}:`;
  return `DATA_DIR ${dataDir} cannot be used:${where} ${why}. ${remedy}.`;
};

type Settings = Pick<Config, "dataDir" | "databaseUrl" | "storage">;

/** What `serve` writes to in DATA_DIR. It makes what is missing. */
const STORAGE_FOLDERS = ["", "incoming", ...OBJECT_FOLDERS].map((folder) => join("objects", folder));
const SQLITE_FILES = ["panorama.sqlite", "panorama.sqlite-wal", "panorama.sqlite-shm", "serve.lock"];

/** Why `serve` can use DATA_DIR, or a file or folder there, not: one sentence. Nothing is made. */
export const dataDirProblem = async ({ dataDir, databaseUrl, storage }: Settings): Promise<string | undefined> => {
  const folders = ["", "uploads", ...(storage.kind === "filesystem" ? STORAGE_FOLDERS : [])];
  try {
    await requireWritable(existingPart(resolve(dataDir)), true);
    for (const name of [...folders, ...(databaseUrl === undefined ? SQLITE_FILES : [])]) {
      const path = join(dataDir, name);
      if (isThere(path)) await requireWritable(path, folders.includes(name));
    }
    return undefined;
  } catch (error) {
    return unusableDataDir(dataDir, error) ?? `DATA_DIR ${dataDir} cannot be used: ${reasonOf(error)}.`;
  }
};

const requireWritable = async (path: string, mustBeFolder: boolean): Promise<void> => {
  const isFolder = (await stat(path)).isDirectory();
  const code = isFolder ? "EISDIR" : "ENOTDIR";
  if (isFolder !== mustBeFolder) throw Object.assign(new Error(), { code, path });
  await access(path, constants.W_OK | (isFolder ? constants.X_OK : constants.R_OK));
};

/** DATA_DIR, or the folder in which `serve` would make it, and the space there. */
export const checkDataDirectory = async (settings: Settings, machine: Machine): Promise<readonly Finding[]> => {
  const { dataDir } = settings;
  const problem = await dataDirProblem(settings);
  if (problem !== undefined) {
    const unwritable = broken("data directory", "configuration", problem);
    return [unwritable, notChecked("disk space", "DATA_DIR must be writable first.")];
  }
  const { freeBytes, freeFiles } = await machine.freeSpace(existingPart(resolve(dataDir)));
  return [existence(dataDir), spaceIn(dataDir, freeBytes, freeFiles)];
};

/** True also for a symbolic link that leads to nothing. */
const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // below a file, or too long
  }
};

const existingPart = (path: string): string => (isThere(path) ? path : existingPart(dirname(path)));

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
