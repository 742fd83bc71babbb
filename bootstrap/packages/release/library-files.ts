import { cpSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { deprecatedText, type EntryName, entryModules, entryText } from "../entries.js";
import { modules, project, type Target, target } from "./manifest.js";

/** The modules of the entries of panorama-core and panorama-testing. */
export const inEntries = await entryModules(project, modules);

/** The path of a package that an entry is. */
const ENTRY_PATHS: Readonly<Record<EntryName, string>> = {
  core: "panorama-core",
  memory: "panorama-core/memory",
  testing: "panorama-testing",
};

/** Writes an entry module into the package, and returns where it is. */
export const writeEntry = async (name: string, entry: EntryName): Promise<Target> => {
  await mkdir(join(target, name, "dist/entries"), { recursive: true });
  const text = entryText(inEntries, entry, "..");
  const types = `./dist/entries/${entry}.d.ts`;
  await writeFile(join(target, name, types), text);
  const script = `./dist/entries/${entry}.js`;
  await writeFile(join(target, name, script), (await transform(text, { loader: "ts" })).code);
  return { types, default: script };
};

/** Writes the declarations of the paths of 2.0 that an entry replaces, and returns all paths. */
export const withDeprecated = async (name: string, targets: Readonly<Record<string, Target>>) => {
  const replaced = inEntries.flatMap((module) => {
    const target = targets[`./${module.path}`];
    return target === undefined || module.path.startsWith("wording/") ? [] : [{ module, target }];
  });
  const written = await Promise.all(
    replaced.map(async ({ module, target: { default: script } }) => {
      const types = `./dist/deprecated/${module.path}.d.ts`;
      const path = ENTRY_PATHS[module.entry];
      const replacement = module.entry === "testing" ? path : path.replace("panorama-core", name);
      await mkdir(dirname(join(target, name, types)), { recursive: true });
      const dist = module.path.replaceAll(/[^/]+/g, "..");
      await writeFile(join(target, name, types), deprecatedText(module, replacement, dist));
      return [`./${module.path}`, { types, default: script }] as const;
    }),
  );
  const others = Object.entries(targets).filter(([path]) => !path.startsWith("./wording/"));
  return { ...Object.fromEntries(others), ...Object.fromEntries(written) };
};

/** The entries of panorama-core, which panorama-service has, too. */
export const writeEntries = async (name: string) => ({
  ".": await writeEntry(name, "core"),
  "./memory": await writeEntry(name, "memory"),
});

/** EMBEDDING.md with its examples. Links to other documents of the project become text. */
export const writeEmbedding = async (name: string): Promise<void> => {
  const folder = join(target, name);
  cpSync(join(project, "test/examples"), join(folder, "examples"), {
    recursive: true,
    filter: (path) => !path.includes("http-provider"),
  });
  for (const document of ["EMBEDDING.md"]) {
    const text = (await readFile(join(project, document), "utf8"))
      .replaceAll("test/examples/", "examples/")
      .replaceAll(/\[([^\]]+)\]\((?!#|examples\/|CHANGELOG\.md)[^)]+\)/g, "$1");
    await writeFile(join(folder, document), text);
  }
};
