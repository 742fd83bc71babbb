import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** The path of the tarball that the set-up of the packed tests has made of a package in `dist-packages/`. */
export const tarballOf = async (name: string): Promise<string> => {
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  return resolve("dist-packages", `${name}-${version}.tgz`);
};

/** Unpacks it into a folder of its name in `modules`. Resolves to that folder. */
export const unpackTarball = async (name: string, modules: string): Promise<string> => {
  const folder = join(modules, name);
  await mkdir(folder);
  await promisify(execFile)("tar", ["-xf", await tarballOf(name), "-C", folder, "--strip-components=1"]);
  return folder;
};
