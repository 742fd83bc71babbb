import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMANDS } from "../bootstrap/commands/commands.js";
import { environmentSchema } from "../bootstrap/environment.js";

const FOLDERS = ["domain", "application", "adapters", "bootstrap"];
const PICTURE_OR_FONT = /\.(avif|gif|ico|jpe?g|otf|png|svg|ttf|webp|woff2?)$/;

/** The files of a clone, without those that an editor or the system hides. */
const productFiles = async (): Promise<readonly string[]> => {
  const entries = await Promise.all(FOLDERS.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })));
  return entries
    .flat()
    .filter((entry) => entry.isFile() && !entry.name.startsWith(".") && !PICTURE_OR_FONT.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
};

/** As `wc -l` counts them. */
const linesIn = async (file: string): Promise<number> => (await readFile(file)).filter((byte) => byte === 10).length;

const productLines = async (): Promise<number> => {
  const lines = await Promise.all((await productFiles()).map(linesIn));
  return lines.reduce((sum, one) => sum + one, 0);
};

const rootDocuments = async (): Promise<number> => (await readdir(".")).filter((name) => name.endsWith(".md")).length;

/** What was there when the limits were last decided; of the lines, the next thousand above. */
it.each([
  { what: "product lines", limit: 75_500, count: productLines },
  { what: "Markdown documents at the root", limit: 6, count: rootDocuments },
  { what: "commands", limit: 50, count: () => COMMANDS.length },
  { what: "environment variables", limit: 74, count: () => Object.keys(environmentSchema.shape).length },
])("the house has at most $limit $what", async ({ what, limit, count }) => {
  const there = await count();
  const rule = "An issue that asks for more raises the number in its own commit.";
  expect(there, `There are ${there} ${what}; the limit is ${limit}. ${rule}`).toBeLessThanOrEqual(limit);
});
