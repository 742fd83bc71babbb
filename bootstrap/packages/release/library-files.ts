import { cpSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { type EntryName, entryModules, entryText } from "../entries.js";
import { modules, project, type Target, target } from "./manifest.js";

/** The modules of the entries of panorama-core and panorama-testing. */
export const inEntries = await entryModules(project, modules);

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
