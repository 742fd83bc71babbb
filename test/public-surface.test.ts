import { relative, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Declarations, declarationsOf, publicModules } from "./support/public-surface.js";

describe("the public surface of the package", () => {
  let modules: readonly Declarations[];

  beforeAll(async () => {
    modules = declarationsOf(await publicModules());
  });

  it("names every public path on its own: exports in package.json has no pattern", () => {
    expect(modules.filter(({ path }) => path.includes("*"))).toEqual([]);
  });

  it("exports every module whose types a public declaration uses", () => {
    const sources = new Set(modules.map(({ source }) => resolve(source)));
    const missing = modules.flatMap(({ path, imports }) =>
      imports.filter((source) => !sources.has(source)).map((source) => `${path} uses ${relative(".", source)}`),
    );
    expect(missing).toEqual([]);
  });

  it("is the one listed in test/public-surface.txt (after an intended change: npm run surface)", async () => {
    const listed = modules.map(({ path, text }) => `## panorama-service/${path}\n\n${text}\n`);
    await expect(listed.join("\n")).toMatchFileSnapshot("./public-surface.txt");
  });
});
