import { cpSync } from "node:fs";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type TransformOptions, transform } from "esbuild";
import { referenceOf } from "../reference.js";
import { project, root, type Target, target } from "./manifest.js";

/** The part of the changelog for those who import the library: its entries "For the library", and their headings. */
const libraryChanges = (changes: string): string => {
  const lines = changes.split("\n").filter((line) => line.startsWith("#") || line.startsWith("- For the library"));
  const isEmpty = (line: string, n: number) => line.startsWith("### ") && lines[n + 1]?.startsWith("- ") !== true;
  const text = lines
    .filter((line, n) => !isEmpty(line, n))
    .map((line) => (line.startsWith("#") ? `\n${line}\n` : line));
  return `${text
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimStart()}\n`;
};

/** Where `"moduleResolution": "node10"`, which does not know `exports`, finds declarations. */
const forOldResolution = (exports: Readonly<Record<string, Target | string>>) => {
  const targets = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[path.slice(2), target] as const],
  );
  const [, main] = targets.find(([path]) => path === "") ?? [];
  const paths = Object.fromEntries(targets.flatMap(([path, { types }]) => (path === "" ? [] : [[path, [types]]])));
  return { main: main?.default, types: main?.types, typesVersions: { "*": paths } };
};

/**
 * Writes what every package has: its manifest, license, changelog, README.md and reference. The manifest has no
 * `files`: all that is in the folder is published, and npm takes long to match thousands of paths.
 */
export const writePackage = async (
  name: string,
  description: string,
  manifest: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const folder = join(target, name);
  const { version, license, engines, repository } = root;
  const common = { name, version, description, license, type: "module", engines, repository };
  const old = forOldResolution(manifest.exports as Readonly<Record<string, Target | string>>);
  await writeFile(
    join(folder, "package.json"),
    `${JSON.stringify({ ...common, ...manifest, ...old }, undefined, 2)}\n`,
  );
  await cp(join(project, "LICENSE"), join(folder, "LICENSE"));
  const changes = await readFile(join(project, "CHANGELOG.md"), "utf8");
  await writeFile(join(folder, "CHANGELOG.md"), name === "panorama-service" ? changes : libraryChanges(changes));
  await cp(join(project, "bootstrap/packages", `${name}.md`), join(folder, "README.md"));
  await writeFile(join(folder, "REFERENCE.md"), await referenceOf(folder, name !== "panorama-core"));
  console.log(`${relative(project, folder)}: its reference is REFERENCE.md`);
};

/**
 * Copies the compiled modules of a folder, without their sources and maps, which are as large as all else together. The
 * comments are in the declarations; the scripts have none.
 */
export const copyModules = async (name: string, folder: string, options: TransformOptions): Promise<void> => {
  const compiled = join(target, name, "dist", folder);
  cpSync(join(project, "dist", folder), compiled, { recursive: true, filter: (path) => !path.endsWith(".d.ts.map") });
  for (const file of await readdir(compiled, { recursive: true })) {
    const path = join(compiled, file);
    if (file.endsWith(".js")) {
      const { code } = await transform(await readFile(path, "utf8"), {
        ...options,
        charset: "utf8",
        format: "esm",
        legalComments: "none",
      });
      await writeFile(path, code);
    } else if (file.endsWith(".d.ts")) {
      await writeFile(path, (await readFile(path, "utf8")).replace(/\/\/# sourceMappingURL=.*\n?$/, ""));
    }
  }
};
