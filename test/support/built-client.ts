import { mkdtempSync, rmSync, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClient } from "../../adapters/web/client/build.mjs";

const SOURCES = "adapters/web/client";
const BUILT = "dist/adapters/web/static";
/** Written at the end of `npm run build`. */
const END_OF_BUILD = "dist/sources.sha256";

let client: Promise<string> | undefined;

/**
 * The folder of the scripts and styles of the web pages: that of `npm run build` unless a source is newer, otherwise
 * they are built once in this process.
 */
export const builtClient = (): Promise<string> => {
  client ??= isBuilt().then((built) => (built ? BUILT : build()));
  return client;
};

const isBuilt = async (): Promise<boolean> => {
  const end = statSync(END_OF_BUILD, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = await readdir(SOURCES, { recursive: true });
  const times = await Promise.all(["package-lock.json", ...sources.map((name) => join(SOURCES, name))].map(changedAt));
  return times.every((time) => time < end);
};

const changedAt = async (path: string): Promise<number> => (await stat(path)).mtimeMs;

const build = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "panorama-client-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await buildClient(folder);
  return folder;
};
