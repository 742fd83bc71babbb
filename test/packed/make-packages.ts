import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const FOLDER = "dist-packages";

/**
 * Makes the packages in `dist-packages/`, and beside each its tarball, once for all tests of them, from what `npm run
 * build` has built.
 */
export const makePackages = async (): Promise<void> => {
  await run(process.execPath, ["--import", "tsx", "bootstrap/packages/build/build-packages.ts"]);
  const packages = (await readdir(FOLDER)).map((name) => `./${FOLDER}/${name}`);
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", FOLDER, ...packages]);
};
