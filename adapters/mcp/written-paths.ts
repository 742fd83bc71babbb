import { readdir } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";

/**
 * The paths that a text can mean, as people and clients write them: as it is, in quotes, as a file: URL, with percent
 * codes or with the escapes of a shell, in the home folder, or of the other side of Windows and its Linux. Nothing is
 * expanded as a shell does.
 */
export function writtenPaths(text: string, home?: string, platform: string = process.platform): readonly string[] {
  const plain = text
    .trim()
    .replace(/^(["'`“‘<])(.*)["'`”’>]$/s, "$2")
    .trim();
  const local = plain.replace(/^file:(\/\/(localhost(?=\/))?)?/i, "");
  const rooted = /^file:/i.test(plain) && !/^[\\/~]|^[a-z](:|%3A)/i.test(local) ? `/${local}` : local;
  const unescaped = platform === "win32" ? rooted : rooted.replace(/\\(.)/g, "$1");
  const paths = [text, plain, rooted, decoded(rooted), unescaped, decoded(unescaped)];
  return [...new Set(paths.map((path) => inHome(onThisSide(path, platform), home)))];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** `/C:/a` and `/mnt/c/a` or `/c/a` for Windows; `C:\a` and `\\wsl$\Ubuntu\a` for its Linux. */
function onThisSide(path: string, platform: string): string {
  if (platform === "win32") return path.replace(/^\/(?:mnt\/)?([a-z])(?::(?=[\\/])|(?=\/))/i, "$1:");
  const linux = path.replace(/^[\\/]{2}wsl(?:\$|\.localhost)[\\/][^\\/]+(?=[\\/])/i, "");
  const onDrive = linux.replace(/^([a-z]):(?=[\\/])/i, (_, drive: string) => `/mnt/${drive.toLowerCase()}`);
  return onDrive === path ? path : onDrive.replaceAll("\\", "/");
}

/** The places of a path. A relative one can be in a folder, beside it, in the home folder, or the current one. */
export const placesOf = (path: string, folders: readonly string[], home?: string): readonly string[] =>
  isAbsolute(path)
    ? [path]
    : [...folders, ...folders.map(dirname), ...(home === undefined ? [] : [home]), "."].map((base) =>
        resolve(base, path),
      );

/**
 * The file in the folder whose names look like those of `place`. Unicode has several forms of one letter, and
 * screenshots of macOS have a space in their names that models write as the usual one.
 */
export async function placeAlike(place: string, folder: string): Promise<string | undefined> {
  const names = resolve(place).split(sep);
  const start = resolve(folder).split(sep);
  if (!start.every((name, index) => looks(name) === looks(names[index] ?? ""))) return undefined;
  let found = folder;
  for (const name of names.slice(start.length)) {
    const alike = (await readdir(found).catch(() => [])).filter((entry) => looks(entry) === looks(name));
    const entry = alike.length === 1 ? alike[0] : alike.find((exact) => exact === name);
    if (entry === undefined) return undefined;
    found = join(found, entry);
  }
  return found;
}

const looks = (name: string): string =>
  name.normalize("NFKC").replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, " ").trim();

/** `~` and what is below it, as a shell writes the home folder: nothing expands it in the settings of an MCP client. */
export const inHome = (path: string, home: string | undefined): string =>
  home !== undefined && /^~(?:$|[\\/])/.test(path) ? join(home, path.slice(1)) : path;
