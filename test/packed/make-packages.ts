import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { tarballOf } from "../support/tarball-of.js";

const run = promisify(execFile);
const FOLDER = "dist-packages";
/**
 * npm would match each of its thousands of paths with patterns, for seconds, and pack all of them, as `tar` does:
 * package.json has no `files`. `npm run verify packages` packs it with npm.
 */
const LARGE = "panorama-service";

/**
 * Makes the packages in `dist-packages/`, and beside each its tarball, once for all tests of them, from what `npm run
 * build` has built.
 */
export const makePackages = async (): Promise<void> => {
  await run(process.execPath, ["--import", "tsx", "bootstrap/packages/build-packages.ts"]);
  const packages = (await readdir(FOLDER)).filter((name) => name !== LARGE).map((name) => `./${FOLDER}/${name}`);
  await run("npm", ["pack", "--silent", "--pack-destination", FOLDER, ...packages]);
  // Not compressed, which `tar` finds out when it unpacks it.
  await run("tar", ["-cf", await tarballOf(LARGE), "-C", FOLDER, LARGE]);
};
