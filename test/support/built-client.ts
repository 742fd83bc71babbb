import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClient } from "../../adapters/web/client/build.mjs";

let built: Promise<string> | undefined;

/** Builds the scripts and styles of the web pages once in this process. Resolves to their folder. */
export const builtClient = (): Promise<string> => {
  built ??= build();
  return built;
};

const build = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "panorama-client-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await buildClient(folder);
  return folder;
};
