import { relative, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { entryModules, entryText, METER_MODULES } from "../bootstrap/packages/entries.js";
import { publicModules, publicModulesAmong } from "../bootstrap/packages/public-modules.js";
import { type Declarations, declarationsOf, exportsWritten, withoutComment } from "./support/public-surface.js";

/**
 * The smallest package that has the paths below a folder. All others are only in panorama-service, which has
 * everything.
 */
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
    modules = await declarationsOf(await publicModules("."));
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
      .filter(({ path }) => !path.startsWith("wording/")) // it has no path of its own, but is in an entry
      .filter(({ path }) => (PACKAGES[path.split("/")[0] ?? ""] ?? "panorama-service") === name)
      .map(({ path, text }) => `## ${name}/${path.replace(/^client\//, "")}\n\n${text}\n`);
    await expect(listed.join("\n")).toMatchFileSnapshot(file);
  });
});

describe("the entries of the packages", () => {
  it("are those in test/public-surface-entries.txt (after an intended change: npm run surface)", async () => {
    const modules = await entryModules(".", await publicModules("."));
    const entries = [
      ["panorama-core", entryText(modules, "core", "..")],
      ["panorama-core/memory", entryText(modules, "memory", "..")],
      ["panorama-testing", entryText(modules, "testing", "..")],
      ...(await Promise.all(
        Object.entries(METER_MODULES).map(async ([path, module]) => [
          `panorama-meter${path.slice(1)}`,
          await exportsWritten(module),
        ]),
      )),
    ];
    const text = entries.map(([path, exports]) => `## ${path}\n\n${exports}`).join("\n");
    await expect(text).toMatchFileSnapshot("./public-surface-entries.txt");
  });

  it("do not have two exports of one name", async () => {
    const twice = ["domain/task", "domain/queue"].map((path) => ({ path, source: "domain/tasks/task.ts" }));
    await expect(entryModules(".", twice)).rejects.toThrow("rename one in the entry");
  });
});

describe("the public modules among source files", () => {
  const exports = {
    "./domain/*": "./dist/domain/*.js",
    "./application/*": "./dist/application/*.js",
    "./application/page-of": null,
    "./application/ports/*": "./dist/application/ports/*.js",
    "./stores/task-*": null,
    "./stores/*": "./dist/adapters/stores/*.js",
    "./stores/task-store": "./dist/adapters/stores/task-store.js",
    "./provider": "./dist/adapters/provider/open-provider.js",
    "./package.json": "./package.json",
  };
  const FILES = [
    "domain/task.ts",
    "application/panoramas/create-panorama.ts",
    "application/page-of.ts",
    "application/ports/clock.ts",
    "adapters/stores/sql/task-store.ts",
    "adapters/stores/task-moves.ts",
    "adapters/stores/account-store.ts",
    "adapters/provider/open-provider.ts",
    "adapters/provider/calls.ts",
  ];

  it("have a path without inner folders, and are not those that a longer pattern keeps private", () => {
    expect(publicModulesAmong(exports, FILES)).toEqual([
      { path: "domain/task", source: "domain/task.ts" },
      { path: "application/create-panorama", source: "application/panoramas/create-panorama.ts" },
      { path: "application/ports/clock", source: "application/ports/clock.ts" },
      { path: "stores/account-store", source: "adapters/stores/account-store.ts" },
      { path: "stores/task-store", source: "adapters/stores/sql/task-store.ts" },
      { path: "provider", source: "adapters/provider/open-provider.ts" },
    ]);
  });

  it("keep their path if a file moves to an inner folder", () => {
    const moved = FILES.map((file) => file.replace(/[^/]*$/, "inner/$&"));
    const paths = (files: readonly string[]) => publicModulesAmong(exports, files).map(({ path }) => path);
    expect(paths(moved)).toEqual(paths(FILES));
  });

  it("have different paths", () => {
    expect(() => publicModulesAmong(exports, [...FILES, "domain/tasks/task.ts"])).toThrow(
      "exports in package.json: ./domain/task is domain/task.ts and domain/tasks/task.ts",
    );
  });

  it("are at least one for each entry of exports", () => {
    expect(() => publicModulesAmong(exports, FILES.slice(1))).toThrow(
      "exports in package.json: no file for ./domain/*",
    );
  });
});
