import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

/** The path of the tarball that the set-up of the packed tests has made of a package in `dist-packages/`. */
export const tarballOf = async (name: string): Promise<string> => {
  const { version } = JSON.parse(await readFile(resolve("dist-packages", name, "package.json"), "utf8"));
  return resolve("dist-packages", `${name}-${version}.tgz`);
};
