// Under another name: the bundled command has a `createRequire` of its own (bundle-command.ts).
import { createRequire as requireFrom } from "node:module";

/** The version of the installed package, which is found by its name: from the sources, and where it is built. */
export const panoramaVersion = (): string =>
  (requireFrom(import.meta.url)("panorama-service/package.json") as { version: string }).version;
