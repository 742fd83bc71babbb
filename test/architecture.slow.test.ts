import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type Findings = {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
};

const folders = ["domain", "application", "adapters", "bootstrap", "test"];
const depcruise = resolve("node_modules/dependency-cruiser/bin/dependency-cruise.mjs");

/** Runs the command of `npm run check layers` in the project, or in a folder with a copy of its configuration. */
const cruise = async (directory: string): Promise<Findings["summary"]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [depcruise, ...folders, "--config", "--output-type", "json"],
    { cwd: directory, maxBuffer: 64 * 1024 * 1024 },
  );
  return (JSON.parse(stdout) as Findings).summary;
};

/** The rule of a folder that has a list of what it may import. */
const listOf = (folder: string): string => `${folder} imports only what it lists`;

const BASE_RULE = "the base of application/ imports no use case";
const FOLDER_RULE = "a folder of use cases imports only the base of application/";
const BACKGROUND_RULE = "background/ does not import what puts the application together";

describe("the dependency rule of .dependency-cruiser.cjs", () => {
  it("holds for every module of the project", async () => {
    const { totalCruised, violations } = await cruise(".");
    expect(violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
    // A cruiser that cannot read TypeScript finds no modules, and so no violations either.
    expect(totalCruised).toBeGreaterThan(50);
  });

  it("lists exactly the existing folders of adapters/", async () => {
    const { forbidden } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as {
      forbidden: readonly { readonly name: string }[];
    };
    const listed = forbidden.flatMap(({ name }) => /^adapters\/([^/ ]+) imports only/.exec(name)?.[1] ?? []);
    const folders = (await readdir("adapters", { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(listed.sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  /**
   * A small project: a file, what it imports, and the rule that must refuse the import. What is allowed, the modules of
   * the project import themselves.
   */
  const planted: readonly (readonly [file: string, imports: string, refusedBy?: string])[] = [
    ["domain/uses-application.ts", "../application/create.js", listOf("domain")],
    ["domain/uses-an-adapter.ts", "../adapters/http/request-source.js", listOf("domain")],
    ["domain/uses-files.ts", "node:fs", listOf("domain")],
    ["domain/uses-a-package.ts", "sharp", listOf("domain")],
    ["domain/credits/hold.ts", "../images/image.js", "domain/credits imports no later folder of domain"],
    ["application/uses-an-adapter.ts", "../adapters/http/request-source.js", listOf("application")],
    ["application/uses-files.ts", "node:fs", listOf("application")],
    ["application/uses-zod.ts", "zod", listOf("application")],
    ["application/uses-a-use-case.ts", "./panoramas/submit.js", BASE_RULE],
    ["application/ports/uses-a-use-case.ts", "../panoramas/submit.js", BASE_RULE],
    ["application/panoramas/uses-background.ts", "../background/recover-tasks.js", FOLDER_RULE],
    ["application/webhooks/uses-a-neighbour.ts", "../panoramas/submit.js", FOLDER_RULE],
    ["application/operators/uses-all.ts", "../create-application.js", FOLDER_RULE],
    ["application/background/uses-all.ts", "../create-application.js", BACKGROUND_RULE],
    ["adapters/http/uses-a-package-of-another.ts", "sharp", listOf("adapters/http")],
    ["adapters/memory/uses-files.ts", "node:fs/promises", listOf("adapters/memory")],
    ["adapters/mcp/uses-another-adapter.ts", "../http/server.js", listOf("adapters/mcp")],
    ["adapters/mcp/uses-bootstrap.ts", "../../bootstrap/wiring.js", listOf("adapters/mcp")],
    ["adapters/mcp/uses-a-test.ts", "../../test/builder.js", listOf("adapters/mcp")],
    ["adapters/mcp/uses-the-container.ts", "inversify", listOf("adapters/mcp")],
    ["adapters/mcp/uses-a-missing-file.ts", "./nowhere.js", "every import resolves"],
    ["adapters/system/uses-another-adapter.ts", "../http/server.js", listOf("adapters/system")],
    ["adapters/provider/local/uses-remote.ts", "../remote/remote-provider.js", listOf("adapters/provider/local")],
    [
      "adapters/provider/remote/skybox/uses-fal.ts",
      "../fal/fal-provider.js",
      "one remote provider does not import another",
    ],
    ["adapters/web/client/uses-the-server-side.ts", "../layout.js", listOf("adapters/web/client")],
    ["adapters/web/uses-the-browser-side.ts", "./client/viewer/viewer.js", listOf("adapters/web")],
    [
      "adapters/unlisted/uses-the-domain.ts",
      "../../domain/tasks/task.js",
      "an adapter folder without a list imports nothing",
    ],
    // A cycle is reported once, at one of its files.
    ["adapters/mcp/hen.ts", "./egg.js"],
    ["adapters/mcp/egg.ts", "./hen.js", "no import cycles"],
    ["adapters/contracts/uses-an-adapter.ts", "../http/server.js", listOf("adapters/contracts")],
    ["adapters/contracts/uses-a-test.ts", "../../test/builder.js", listOf("adapters/contracts")],
    ["bootstrap/uses-a-test.ts", "../test/builder.js", listOf("bootstrap")],
    ["bootstrap/uses-an-adapters-package.ts", "sharp", listOf("bootstrap")],
    ["bootstrap/packages/panorama-core/uses-bootstrap.ts", "../../wiring.js", listOf("bootstrap/packages")],
    ["test/domain/uses-application.test.ts", "../../application/create.js", listOf("test/domain")],
    ["test/application/uses-an-adapter.test.ts", "../../adapters/http/request-source.js", listOf("test/application")],
  ];
  const packages = ["neverthrow", "zod", "sharp", "inversify"];

  let project: string;
  let violations: Findings["summary"]["violations"];

  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  };

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-layers-"));
    for (const file of [".dependency-cruiser.cjs", "tsconfig.json", "package.json"]) {
      await copyFile(file, join(project, file));
    }
    for (const name of packages) {
      await write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
      await write(`node_modules/${name}/index.js`, "");
    }
    for (const [path, imports] of planted) {
      const target = join(dirname(path), imports.replace(/\.js$/, ".ts"));
      if (imports.startsWith(".") && !imports.includes("nowhere")) await write(target, "export type Thing = 1;\n");
    }
    for (const [path, imports] of planted) {
      // Type imports count, too: they tie one folder to another as much as values do.
      await write(path, `import type { Thing } from "${imports}";\nexport type Other = Thing;\n`);
    }
    ({ violations } = await cruise(project));
  });

  afterAll(() => rm(project, { recursive: true, force: true }));

  it.each(planted)("decides about %s that imports %s: refused by %s", (path, _, refusedBy) => {
    const rules = violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);
    expect(rules).toEqual(refusedBy === undefined ? [] : [refusedBy]);
  });
});
