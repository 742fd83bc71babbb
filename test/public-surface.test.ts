import { relative, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Declarations, declarationsOf, publicModules, withoutComment } from "./support/public-surface.js";

/** The smallest package that has the paths below a folder. All others are only in panorama-service, which has everything. */
const PACKAGES: Readonly<Record<string, string>> = {
  domain: "panorama-core",
  application: "panorama-core",
  memory: "panorama-core",
  contracts: "panorama-core",
  client: "panorama-client",
};

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

  it("has a documentation comment on every export", async () => {
    expect((await Promise.all(modules.map(withoutComment))).flat()).toEqual([]);
  });

  it.each([
    ["panorama-core", "./public-surface.txt"],
    ["panorama-client", "./public-surface-client.txt"],
    ["panorama-service", "./public-surface-service.txt"],
  ])("of %s is the one listed in test/%s (after an intended change: npm run surface)", async (name, file) => {
    const listed = modules
      .filter(({ path }) => (PACKAGES[path.split("/")[0] ?? ""] ?? "panorama-service") === name)
      .map(({ path, text }) => `## ${name}/${path.replace(/^client\//, "")}\n\n${text}\n`);
    await expect(listed.join("\n")).toMatchFileSnapshot(file);
  });
});
