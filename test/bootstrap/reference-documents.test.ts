import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMANDS } from "../../bootstrap/commands/commands.js";
import { configurationDocument } from "../../bootstrap/configuration-document.js";

/* `npx vitest run test/bootstrap/reference-documents.test.ts -u` writes the documents again. */

const FOLDER = "bootstrap/commands";

it("CONFIGURATION.md equals the schemas of the variables and of the settings file", async () => {
  const document = configurationDocument();
  await expect(document).toMatchFileSnapshot("../../bootstrap/CONFIGURATION.md");
  // Each has a meaning.
  expect(document.split("\n").filter((line) => /\| +\|$/.test(line))).toEqual([]);
});

it("the list of commands has every command of its folder", async () => {
  const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith(".ts"));
  const sources = await Promise.all(files.map((file) => readFile(join(FOLDER, file), "utf8")));
  const words = sources.flatMap((source) => [...source.matchAll(/^ {2}words: "([a-z -]+)"/gm)].map(([, name]) => name));
  expect(COMMANDS.map((command) => command.words).sort()).toEqual(words.sort());
});
