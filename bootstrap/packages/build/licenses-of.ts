import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../../..", import.meta.url));

/** The licence texts of this project and of every package that the bundle contains. */
export const licensesOf = async (bundle: string, bundledFiles: readonly string[]): Promise<string> => {
  const folders = new Map<string, string>();
  for (const file of bundledFiles) {
    const [, folder, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? [];
    if (folder !== undefined && name !== undefined) folders.set(name, folder);
  }
  const parts = await Promise.all(
    [...folders]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(async ([name, folder]) => {
        const directory = join(project, folder);
        const file = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry));
        if (file === undefined) throw new Error(`The package ${name} has no licence file`);
        return `${name}\n\n${(await readFile(join(directory, file), "utf8")).trim()}\n`;
      }),
  );
  const own = await readFile(join(project, "LICENSE"), "utf8");
  return [`${bundle}\n`, own, ...parts].join(`\n${"-".repeat(80)}\n\n`);
};
