import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PLANTED_FAULTS } from "./planted-faults.js";

it.each(PLANTED_FAULTS)("applies to the current sources: $name", ({ file, edits }) => {
  const source = readFileSync(file, "utf8");
  expect(edits.filter(([search]) => source.split(search).length !== 2)).toEqual([]);
});
