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

const folders = ["domain", "application", "adapters", "bootstrap", "packages", "test"];
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

  /** A small project: what each file imports, and the rule that must refuse the import, if any. */
  const planted: Readonly<Record<string, { readonly imports: string; readonly refusedBy: string | undefined }>> = {
    "domain/tasks/task.ts": { imports: "neverthrow", refusedBy: undefined },
    "domain/shape.ts": { imports: "zod", refusedBy: undefined },
    "domain/uses-application.ts": { imports: "../application/create.js", refusedBy: listOf("domain") },
    "domain/uses-an-adapter.ts": { imports: "../adapters/http/server.js", refusedBy: listOf("domain") },
    "domain/uses-files.ts": { imports: "node:fs", refusedBy: listOf("domain") },
    "domain/uses-a-package.ts": { imports: "sharp", refusedBy: listOf("domain") },
    "domain/images/image.ts": { imports: "zod", refusedBy: undefined },
    "domain/credits/hold.ts": {
      imports: "../images/image.js",
      refusedBy: "domain/credits imports no later folder of domain",
    },
    "application/create.ts": { imports: "../domain/tasks/task.js", refusedBy: undefined },
    "application/uses-an-adapter.ts": { imports: "../adapters/http/server.js", refusedBy: listOf("application") },
    "application/uses-files.ts": { imports: "node:fs", refusedBy: listOf("application") },
    "application/uses-zod.ts": { imports: "zod", refusedBy: listOf("application") },
    "application/ports/clock.ts": { imports: "../errors.js", refusedBy: undefined },
    "application/errors.ts": { imports: "../domain/tasks/task.js", refusedBy: undefined },
    "application/uses-a-use-case.ts": { imports: "./panoramas/submit.js", refusedBy: BASE_RULE },
    "application/ports/uses-a-use-case.ts": { imports: "../panoramas/submit.js", refusedBy: BASE_RULE },
    "application/panoramas/submit.ts": { imports: "../ports/clock.js", refusedBy: undefined },
    "application/panoramas/create.ts": { imports: "./submit.js", refusedBy: undefined },
    "application/panoramas/uses-background.ts": { imports: "../background/sweep.js", refusedBy: FOLDER_RULE },
    "application/webhooks/uses-a-neighbour.ts": { imports: "../panoramas/submit.js", refusedBy: FOLDER_RULE },
    "application/operators/uses-all.ts": { imports: "../create-application.js", refusedBy: FOLDER_RULE },
    "application/background/sweep.ts": { imports: "../panoramas/submit.js", refusedBy: undefined },
    "application/background/uses-all.ts": { imports: "../create-application.js", refusedBy: BACKGROUND_RULE },
    "application/create-application.ts": { imports: "./background/sweep.js", refusedBy: undefined },
    "adapters/http/server.ts": { imports: "../../application/create.js", refusedBy: undefined },
    "adapters/http/route.ts": { imports: "./server.js", refusedBy: undefined },
    "adapters/http/uses-files.ts": { imports: "node:fs", refusedBy: undefined },
    "adapters/http/uses-the-system.ts": { imports: "../system/clock.js", refusedBy: undefined },
    "adapters/http/uses-a-package-of-another.ts": { imports: "sharp", refusedBy: listOf("adapters/http") },
    "adapters/imaging/image.ts": { imports: "sharp", refusedBy: undefined },
    "adapters/memory/uses-files.ts": { imports: "node:fs/promises", refusedBy: listOf("adapters/memory") },
    "adapters/mcp/uses-another-adapter.ts": { imports: "../http/server.js", refusedBy: listOf("adapters/mcp") },
    "adapters/mcp/uses-bootstrap.ts": { imports: "../../bootstrap/wiring.js", refusedBy: listOf("adapters/mcp") },
    "adapters/mcp/uses-a-test.ts": { imports: "../../test/builder.js", refusedBy: listOf("adapters/mcp") },
    "adapters/mcp/uses-the-container.ts": { imports: "inversify", refusedBy: listOf("adapters/mcp") },
    "adapters/mcp/uses-a-missing-file.ts": { imports: "./nowhere.js", refusedBy: "every import resolves" },
    "adapters/system/clock.ts": { imports: "../../application/create.js", refusedBy: undefined },
    "adapters/system/uses-another-adapter.ts": { imports: "../http/server.js", refusedBy: listOf("adapters/system") },
    "adapters/provider/local/painter.ts": { imports: "sharp", refusedBy: undefined },
    "adapters/provider/local/uses-remote.ts": {
      imports: "../remote/remote-provider.js",
      refusedBy: listOf("adapters/provider/local"),
    },
    "adapters/provider/remote/remote-provider.ts": { imports: "zod", refusedBy: undefined },
    "adapters/provider/remote/fal/fal-provider.ts": { imports: "../remote-provider.js", refusedBy: undefined },
    "adapters/provider/remote/skybox/uses-fal.ts": {
      imports: "../fal/fal-provider.js",
      refusedBy: "one remote provider does not import another",
    },
    "adapters/web/client/viewer/viewer.ts": { imports: "sharp", refusedBy: undefined },
    "adapters/web/client/uses-the-server-side.ts": {
      imports: "../layout.js",
      refusedBy: listOf("adapters/web/client"),
    },
    "adapters/web/layout.ts": { imports: "node:path", refusedBy: undefined },
    "adapters/web/uses-the-browser-side.ts": {
      imports: "./client/viewer/viewer.js",
      refusedBy: listOf("adapters/web"),
    },
    "adapters/unlisted/uses-the-domain.ts": {
      imports: "../../domain/tasks/task.js",
      refusedBy: "an adapter folder without a list imports nothing",
    },
    // A cycle is reported once, at one of its files.
    "adapters/mcp/hen.ts": { imports: "./egg.js", refusedBy: undefined },
    "adapters/mcp/egg.ts": { imports: "./hen.js", refusedBy: "no import cycles" },
    "adapters/contracts/tasks/task-store-contract.ts": { imports: "../../memory/clock.js", refusedBy: undefined },
    "adapters/memory/clock.ts": { imports: "../../domain/tasks/task.js", refusedBy: undefined },
    "adapters/contracts/uses-an-adapter.ts": { imports: "../http/server.js", refusedBy: listOf("adapters/contracts") },
    "adapters/contracts/uses-a-test.ts": { imports: "../../test/builder.js", refusedBy: listOf("adapters/contracts") },
    "bootstrap/wiring.ts": { imports: "inversify", refusedBy: undefined },
    "bootstrap/main.ts": { imports: "../adapters/http/server.js", refusedBy: undefined },
    "bootstrap/uses-a-test.ts": { imports: "../test/builder.js", refusedBy: listOf("bootstrap") },
    "bootstrap/uses-an-adapters-package.ts": { imports: "sharp", refusedBy: listOf("bootstrap") },
    "packages/panorama-core/index.ts": { imports: "../../domain/tasks/task.js", refusedBy: undefined },
    "packages/panorama-core/uses-bootstrap.ts": { imports: "../../bootstrap/wiring.js", refusedBy: listOf("packages") },
    "test/builder.ts": { imports: "../domain/tasks/task.js", refusedBy: undefined },
    "test/domain/tasks/task.test.ts": { imports: "../../../domain/tasks/task.js", refusedBy: undefined },
    "test/domain/uses-application.test.ts": {
      imports: "../../application/create.js",
      refusedBy: listOf("test/domain"),
    },
    "test/application/uses-an-adapter.test.ts": {
      imports: "../../adapters/http/server.js",
      refusedBy: listOf("test/application"),
    },
  };
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
    for (const [path, { imports }] of Object.entries(planted)) {
      // Type imports count, too: they tie one folder to another as much as values do.
      await write(path, `import type { Thing } from "${imports}";\nexport type Other = Thing;\n`);
    }
    ({ violations } = await cruise(project));
  });

  afterAll(() => rm(project, { recursive: true, force: true }));

  for (const [path, { imports, refusedBy }] of Object.entries(planted)) {
    it(`${refusedBy === undefined ? "allows" : "refuses"} the import of ${imports} in ${path}`, () => {
      const rules = violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);
      expect(rules).toEqual(refusedBy === undefined ? [] : [refusedBy]);
    });
  }
});
