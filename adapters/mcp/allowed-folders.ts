import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, relative, sep } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { ReferenceImage } from "../client/panorama-client.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { inHome, placeAlike, placesOf, writtenPaths } from "./written-paths.js";

/** The local folders from which the person allows a language model to upload files. All other files are refused. */
export class AllowedFolders {
  private readonly folders: readonly string[];
  private readonly home: string | undefined;

  /**
   * @param list absolute paths or paths in the home folder (`~/Pictures`), separated as in PATH; if empty, every file
   *   is refused
   * @param warn takes a sentence for each entry that cannot be used
   */
  constructor(list: string, home?: string, warn: (line: string) => void = () => {}) {
    this.home = home;
    this.folders = list
      .split(delimiter)
      .map((entry) => inHome(entry.trim(), home))
      .filter((entry) => {
        const why = whyUnusable(entry);
        if (why !== undefined && entry !== "") warn(`PANORAMA_UPLOAD_DIRS: ${JSON.stringify(entry)} ${why}`);
        return why === undefined;
      });
  }

  get description(): string {
    return this.folders.length === 0
      ? "No folder is allowed yet."
      : `Only files inside the folders that the person has allowed: ${this.folders.join(", ")}.`;
  }

  /** Request to the person, so that the file at `path` can be uploaded. */
  whatToDo(path: string): string {
    const written = writtenPaths(path, this.home).findLast((written) => isAbsolute(written));
    const folder = written === undefined ? "/path/of/the/folder" : dirname(written);
    const [first] = this.folders;
    const save =
      first === undefined ? "" : `to save the image in the folder ${first} (create it if it is missing), or `;
    return (
      `Ask the person ${save}to set PANORAMA_UPLOAD_DIRS=${JSON.stringify(folder)} in the configuration of this MCP ` +
      "server and to restart it. Do not try other paths: this server never gets an attachment of the chat, and chat " +
      "programs do not say where they keep them. Instead of a path, an https:// URL of the image can be given in urls."
    );
  }

  /**
   * The error is for the model. It does not reveal what exists outside the folders.
   *
   * @param signal ends the reading: a network drive may never answer
   */
  async read(path: string, bytesMax: number, signal: AbortSignal): Promise<Result<ReferenceImage, string>> {
    const refused = err(`is not a readable file inside an allowed folder. ${this.description}`);
    const stopped = new Promise<typeof refused>((resolve) => {
      if (signal.aborted) resolve(refused);
      else signal.addEventListener("abort", () => resolve(refused), { once: true });
    });
    const read = async () => {
      const places = writtenPaths(path, this.home).flatMap((written) => placesOf(written, this.folders, this.home));
      for (const findPlace of [
        (place: string) => place,
        ...this.folders.map((folder) => (place: string) => placeAlike(place, folder)),
      ]) {
        for (const place of new Set(places)) {
          const found = await findPlace(place);
          const file = found === undefined ? refused : await this.readInside(found, bytesMax, refused);
          if (file !== refused || signal.aborted) return file;
        }
      }
      return refused;
    };
    return Promise.race([read(), stopped]);
  }

  private async readInside(
    path: string,
    bytesMax: number,
    refused: Result<never, string>,
  ): Promise<Result<ReferenceImage, string>> {
    if (!isAbsolute(path)) return refused;
    try {
      // Resolves symbolic links first: the real location of the file decides.
      const real = await realpath(path);
      const folders = await Promise.all(this.folders.map((folder) => realpath(folder).catch(() => undefined)));
      const isAllowed = (place: string) => folders.some((folder) => folder !== undefined && isInside(place, folder));
      if (!isAllowed(real)) return refused;
      const file = await openToRead(real);
      try {
        const stats = await file.stat();
        if (!stats.isFile()) return refused;
        // A folder on the way can have become a link since: what was opened must lie at an allowed place now.
        const place = await placeOf(file, real);
        if (!isAllowed(place) || !(await isAt(place, file))) return refused;
        const tooLarge = err(rulePredicate({ name: "bytes_max", max: bytesMax }));
        if (stats.size > bytesMax) return tooLarge;
        // Another program may be writing to it. What it appends is not read beyond the maximum.
        const bytes = await readAtMost(file, bytesMax + 1);
        return bytes.length > bytesMax ? tooLarge : ok({ bytes, name: basename(real) });
      } finally {
        await file.close();
      }
    } catch {
      return refused;
    }
  }
}

/** A list with commas would be one folder that does not exist; splitting it could allow one that is not meant. */
function whyUnusable(entry: string): string | undefined {
  if (/,\s*(?:~|[\\/]|[a-z]:[\\/])/i.test(entry))
    return `is ignored: separate folders with ${delimiter} instead of commas.`;
  return isAbsolute(entry)
    ? undefined
    : "is ignored: it must be an absolute path, or begin with ~/ for the home folder.";
}

/** The flags refuse a link at the end of the path, and do not block on a named pipe. */
const openToRead = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));

/** Where an open file lies, without links. Linux tells it of the file itself; elsewhere its path is resolved again. */
const placeOf = (file: FileHandle, path: string): Promise<string> =>
  realpath(process.platform === "linux" ? `/proc/self/fd/${file.fd}` : path);

/** Compares device and inode. Both are read from open files: Windows can number a device otherwise for a path. */
async function isAt(path: string, file: FileHandle): Promise<boolean> {
  const other = await openToRead(path);
  try {
    const [here, there] = await Promise.all([file.stat({ bigint: true }), other.stat({ bigint: true })]);
    return here.dev === there.dev && here.ino === there.ino;
  } finally {
    await other.close();
  }
}

async function readAtMost(file: FileHandle, bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, start: 0, end: bytesMax - 1 })) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return Buffer.concat(chunks, bytes);
}

function isInside(path: string, folder: string): boolean {
  const inner = relative(folder, path);
  return inner !== "" && inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner);
}
