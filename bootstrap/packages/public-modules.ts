import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A module that other projects can import: its path in the published packages, and its source file. */
export type PublicModule = { readonly path: string; readonly source: string };

/** `exports` of package.json. `null` keeps a module private that a pattern would make public. */
type Exports = Readonly<Record<string, string | null>>;

const FOLDERS = ["domain", "application", "adapters"];

/** Of two patterns the longer one counts, and a path without a star before both, as in Node.js. */
const mostExact = (one: string, other: string): number =>
  Number(one.includes("*")) - Number(other.includes("*")) || other.length - one.length;

/** What stands for the star of the pattern, or the empty text where both are the same. */
const matched = (pattern: string, text: string): string | undefined => {
  const [start = "", end] = pattern.split("*");
  if (end === undefined) return pattern === text ? "" : undefined;
  const fits = text.length > start.length + end.length && text.startsWith(start) && text.endsWith(end);
  return fits ? text.slice(start.length, text.length - end.length) : undefined;
};

/** `./dist/FOLDER/NAME.js` of `exports`. */
const parseTarget = (target: string): { readonly folder: string; readonly name: string } => {
  const [, folder, name] = /^\.\/dist\/(.*)\/([^/]*)\.js$/.exec(target) ?? [];
  if (folder === undefined || name === undefined) throw new Error(`exports in package.json: ${target} is no module`);
  return { folder: `${folder}/`, name };
};

/**
 * The public modules among the source files. A pattern of `exports` stands for the files in its folder and in all
 * folders below it. The public path has the name of the file and not those of the inner folders, so that a file can
 * move between them. Throws if two modules have the same path, or if an entry stands for no file.
 */
export const publicModulesAmong = (exports: Exports, files: readonly string[]): readonly PublicModule[] => {
  const keys = Object.keys(exports).sort(mostExact);
  const targets = keys.flatMap((key) => {
    const target = exports[key];
    return typeof target === "string" && target.startsWith("./dist/") ? [{ key, ...parseTarget(target) }] : [];
  });
  /** Of nested folders the inner one counts. */
  const inner = targets.toSorted((one, other) => other.folder.length - one.folder.length);
  const sources = new Map<string, string>();
  for (const source of files) {
    const file = source.slice(source.lastIndexOf("/") + 1, -".ts".length);
    const target = inner.find(({ folder, name }) => source.startsWith(folder) && matched(name, file) !== undefined);
    if (target === undefined) continue;
    const path = target.key.replace("*", matched(target.name, file) ?? "");
    if (exports[keys.find((key) => matched(key, path) !== undefined) ?? path] === null) continue;
    const other = sources.get(path);
    if (other !== undefined) throw new Error(`exports in package.json: ${path} is ${other} and ${source}`);
    sources.set(path, source);
  }
  const unused = targets.filter(({ key }) => ![...sources.keys()].some((path) => matched(key, path) !== undefined));
  if (unused.length > 0) throw new Error(`exports in package.json: no file for ${unused.map(({ key }) => key)}`);
  /** In the order of the folders in `exports`. */
  const rank = (path: string) => folders.indexOf(path.split("/")[1] ?? "");
  const folders = Object.keys(exports).map((key) => key.split("/")[1] ?? "");
  const ordered = [...sources].sort(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1));
  return ordered.map(([path, source]) => ({ path: path.slice(2), source }));
};

/** The modules of the project that `exports` in package.json makes public. */
export const publicModules = async (project: string): Promise<readonly PublicModule[]> => {
  const { exports } = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as { exports: Exports };
  const files = await Promise.all(
    FOLDERS.map(async (folder) => {
      const names = await readdir(join(project, folder), { recursive: true });
      return names.filter((name) => /(?<!\.d)\.ts$/.test(name)).map((name) => `${folder}/${name}`);
    }),
  );
  return publicModulesAmong(exports, files.flat());
};
