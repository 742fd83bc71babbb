import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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

/** Runs the very command of `npm run layers`, in the project or in a copy of its configuration elsewhere. */
const cruise = async (directory: string): Promise<Findings["summary"]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [depcruise, ...folders, "--config", "--output-type", "json"],
    { cwd: directory, maxBuffer: 64 * 1024 * 1024 },
  );
  return (JSON.parse(stdout) as Findings).summary;
};

describe("the dependency rule", () => {
  it("is kept by every module of the project", async () => {
    const { totalCruised, violations } = await cruise(".");
    expect(violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
    // A cruiser that cannot read TypeScript finds no modules, and so no violations either.
    expect(totalCruised).toBeGreaterThan(50);
  });

  /** A project in small: what each file imports, and the rule that must refuse it. */
  const planted: Readonly<Record<string, { readonly imports: string; readonly refusedBy: string | undefined }>> = {
    "domain/task.ts": { imports: "neverthrow", refusedBy: undefined },
    "domain/shape.ts": { imports: "zod", refusedBy: undefined },
    "domain/uses-application.ts": { imports: "../application/create.js", refusedBy: "domain-is-pure" },
    "domain/uses-an-adapter.ts": { imports: "../adapters/http/server.js", refusedBy: "domain-is-pure" },
    "domain/uses-files.ts": { imports: "node:fs", refusedBy: "domain-is-pure" },
    "domain/uses-a-package.ts": { imports: "sharp", refusedBy: "domain-is-pure" },
    "application/create.ts": { imports: "../domain/task.js", refusedBy: undefined },
    "application/uses-an-adapter.ts": {
      imports: "../adapters/http/server.js",
      refusedBy: "application-knows-the-domain-only",
    },
    "application/uses-files.ts": { imports: "node:fs", refusedBy: "application-knows-the-domain-only" },
    "application/uses-zod.ts": { imports: "zod", refusedBy: "application-knows-the-domain-only" },
    "adapters/http/server.ts": { imports: "../../application/create.js", refusedBy: undefined },
    "adapters/http/route.ts": { imports: "./server.js", refusedBy: undefined },
    "adapters/http/uses-files.ts": { imports: "node:fs", refusedBy: undefined },
    "adapters/mcp/uses-another-adapter.ts": { imports: "../http/server.js", refusedBy: "adapters-stay-apart" },
    "adapters/mcp/uses-bootstrap.ts": {
      imports: "../../bootstrap/wiring.js",
      refusedBy: "adapters-do-not-know-bootstrap-or-tests",
    },
    "adapters/mcp/uses-the-container.ts": { imports: "inversify", refusedBy: "only-bootstrap-knows-the-container" },
    "adapters/mcp/uses-nothing-there-is.ts": { imports: "./nowhere.js", refusedBy: "everything-resolves" },
    // A cycle is reported once, at one of its files.
    "adapters/mcp/hen.ts": { imports: "./egg.js", refusedBy: undefined },
    "adapters/mcp/egg.ts": { imports: "./hen.js", refusedBy: "no-cycles" },
    "bootstrap/wiring.ts": { imports: "inversify", refusedBy: undefined },
    "bootstrap/main.ts": { imports: "../adapters/http/server.js", refusedBy: undefined },
    "bootstrap/uses-a-test.ts": { imports: "../test/builder.js", refusedBy: "nothing-imports-tests" },
    "test/builder.ts": { imports: "../domain/task.js", refusedBy: undefined },
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
      // Types count: a layer that knows another's types knows that layer.
      await write(path, `import type { Thing } from "${imports}";\nexport type Other = Thing;\n`);
    }
    ({ violations } = await cruise(project));
  });

  afterAll(() => rm(project, { recursive: true, force: true }));

  it.each(
    Object.entries(planted).map(([path, { imports, refusedBy }]) => [path, imports, refusedBy ?? "nothing"] as const),
  )("judges %s, which imports %s: refused by %s", (path, _, refusedBy) => {
    const rules = violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);
    expect(rules).toEqual(refusedBy === "nothing" ? [] : [refusedBy]);
  });
});
