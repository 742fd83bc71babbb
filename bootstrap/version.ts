import { readFileSync } from "node:fs";
// Under another name: the bundled command has a `createRequire` of its own (bundle-command.ts).
import { createRequire as requireFrom } from "node:module";

/**
 * The version of the installed package, which is found by its name: from the sources, and where it is built. One that
 * was built from a checkout has the beginning of its sources' digest as build metadata, such as `3.0.0+1f8a6c03`,
 * because the version itself changes only with a release.
 */
export const panoramaVersion = (): string => {
  const { version } = requireFrom(import.meta.url)("panorama-service/package.json") as { version: string };
  const build = buildOf();
  return build === undefined ? version : `${version}+${build}`;
};

/** `undefined` in the released package, which has no digest, and for the sources themselves. */
const buildOf = (): string | undefined => {
  try {
    return readFileSync(new URL("../sources.sha256", import.meta.url), "utf8").slice(0, 8);
  } catch {
    return undefined;
  }
};
