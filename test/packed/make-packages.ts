import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { unpackTarball } from "../support/tarball-of.js";

const run = promisify(execFile);
const FOLDER = "dist-packages";

/**
 * Makes the tarballs of the packages in `dist-packages/`, and beside each a folder with its files, once for all tests.
 * They come from what `npm run build` has built.
 */
export const makePackages = async (): Promise<void> => {
  await rm(FOLDER, { recursive: true, force: true });
  await run(process.execPath, ["--import", "tsx", "bootstrap/packages/build/build-packages.ts", FOLDER]);
  for (const name of ["panorama-core", "panorama-client", "panorama-service"]) await unpackTarball(name, FOLDER);
};
