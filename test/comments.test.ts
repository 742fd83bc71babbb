import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const COLUMNS_MAX = 120;

const isTooLong = (line: string): boolean => [...line].length > COLUMNS_MAX && /^ *(\*|\/\/|\/\*)/.test(line);

it.each(["domain", "application", "adapters", "bootstrap", "test"])(
  `comments in %s have at most ${COLUMNS_MAX} columns`,
  async (folder) => {
    const files = (await readdir(folder, { recursive: true })).filter((file) => /\.[cm]?[jt]s$/.test(file));
    const found = await Promise.all(
      files.map(async (file) => {
        const lines = (await readFile(join(folder, file), "utf8")).split("\n");
        return lines.flatMap((line, index) => (isTooLong(line) ? [`${file}:${index + 1}`] : []));
      }),
    );
    expect(found.flat()).toEqual([]);
  },
);
