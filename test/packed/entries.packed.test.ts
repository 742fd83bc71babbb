import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed-project.js";

const run = promisify(execFile);

const USE = `
import { credits, err, type MeterStore, meter, ok, type Result } from "panorama-core";
import { HandClock, memoryMeterStore } from "panorama-core/memory";
import { PanoramaClient } from "panorama-client";
import { definePolicy } from "panorama-meter";
import { postgres } from "panorama-meter/postgres";
import { describeMeter } from "panorama-meter/testing";
import { describeMeterStore } from "panorama-testing";

const store: MeterStore = memoryMeterStore();
const result: Result<number, string> = [ok(credits(1)), err("none")][0] ?? ok(0);
console.log([meter, HandClock, PanoramaClient, definePolicy, postgres, describeMeter, describeMeterStore, store, result].length);
`;

/** A resolution is one of TypeScript 5 or of 7, which is three times as fast. Each has two of them. */
const COMPILERS = { 5: "typescript", 7: "typescript-7" } as const;
type Compiler = keyof typeof COMPILERS;

const BOTH = ["--strict", "--noEmit", "--target", "es2022", "--types", "node"];

describe("the entries of the packed packages", () => {
  let project: PackedProject;

  beforeAll(async () => {
    const packages = ["panorama-core", "panorama-testing", "panorama-client", "panorama-meter"];
    project = await PackedProject.with(packages, ["@types/node", "@types/pg", "fast-check", "pg", "vitest"]);
    await writeFile(join(project.folder, "use.ts"), USE);
  });
  afterAll(() => project.remove());

  it.each<[string, Compiler, readonly string[]]>([
    ["nodenext", 5, ["--module", "nodenext", "--skipLibCheck", "false"]],
    ["node16", 7, ["--module", "node16", "--skipLibCheck", "false"]],
    ["bundler", 7, ["--module", "esnext", "--moduleResolution", "bundler", "--skipLibCheck", "false"]],
    ["node10, with skipLibCheck", 5, ["--module", "esnext", "--moduleResolution", "node10", "--skipLibCheck"]],
  ])("have types with the resolution %s, compiled by TypeScript %i", async (_, compiler, options) => {
    expect(await compiled(compiler, "use.ts", options)).toBe("");
  });

  it("have types in CommonJS with nodenext, and with node16 the compiler asks for a dynamic import", async () => {
    await writeFile(join(project.folder, "use.cts"), USE);
    expect(await compiled(7, "use.cts", ["--module", "nodenext"])).toBe("");
    expect(await compiled(7, "use.cts", ["--module", "node16"])).toContain("TS1479");
  });

  it("need one copy of neverthrow, of a range, and the core no fast-check", async () => {
    const manifestOf = async (name: string) =>
      JSON.parse(await readFile(join(project.folder, "node_modules", name, "package.json"), "utf8"));
    const [core, testing] = await Promise.all(["panorama-core", "panorama-testing"].map(manifestOf));
    expect(core.dependencies.neverthrow).toMatch(/^\^8/);
    expect(testing.dependencies.neverthrow).toBe(core.dependencies.neverthrow);
    expect([core.peerDependencies, testing.peerDependencies]).toEqual([
      undefined,
      { "panorama-core": `^${core.version}` },
    ]);
  });

  it("are named by the deprecation of each path of 2.0, which still works", async () => {
    const old = 'import { openTask, type Task } from "panorama-core/domain/task";\nexport { openTask, type Task };\n';
    const file = join(project.folder, "old.ts");
    await writeFile(file, old);
    const options = { module: ts.ModuleKind.NodeNext, strict: true, target: ts.ScriptTarget.ES2022 };
    const host: ts.LanguageServiceHost = {
      getScriptFileNames: () => [file],
      getScriptVersion: () => "1",
      getScriptSnapshot: (name) => {
        const text = ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => project.folder,
      getCompilationSettings: () => options,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      readDirectory: ts.sys.readDirectory,
    };
    const service = ts.createLanguageService(host);
    expect(service.getSemanticDiagnostics(file)).toEqual([]);
    const hints = service.getSuggestionDiagnostics(file).map(({ code }) => code);
    expect(hints).toContain(6385); // "… is deprecated."
    const works = 'const { openTask } = await import("panorama-core/domain/task"); console.log(typeof openTask)';
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", works], { cwd: project.folder });
    expect(stdout).toBe("function\n");
  });

  it("come with documents whose links exist, and with sources of the contract suites", async () => {
    const core = join(project.folder, "node_modules/panorama-core");
    const texts = await Promise.all(["EMBEDDING.md", "MIGRATION.md"].map((name) => readFile(join(core, name), "utf8")));
    const links = [...texts.join("\n").matchAll(/\]\((?!#)([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(5);
    await Promise.all(links.map((path) => readFile(join(core, path))));
    expect(await readFile(join(core, "REFERENCE.md"), "utf8")).toContain("### openTask\n");
    const suites = join(project.folder, "node_modules/panorama-testing/adapters/contracts");
    expect(await readdir(suites)).toContain("meter-store-contract.ts");
  });

  it("prove a store with the suites, with Vitest and with node:test", async () => {
    const sources = ["meter-store-of-documents", "prove-meter-store", "prove-storage", "prove-with-vitest"];
    await project.compile(sources.map((name) => `test/examples/embedding/${name}.ts`));
    const proofs = ["prove-meter-store.js", "prove-storage.js"];
    const { stdout } = await run(process.execPath, ["--test", ...proofs], { cwd: project.folder });
    expect(stdout).toContain("# fail 0");
    const config = 'export default { test: { include: ["prove-with-vitest.js"] } };';
    await writeFile(join(project.folder, "vitest.config.js"), config);
    const vitest = resolve("node_modules/vitest/vitest.mjs");
    await run(process.execPath, [vitest, "run"], { cwd: project.folder });
  });

  /** What the compiler says. */
  const compiled = (compiler: Compiler, file: string, options: readonly string[]): Promise<string> =>
    run(process.execPath, [resolve("node_modules", COMPILERS[compiler], "bin/tsc"), ...BOTH, ...options, file], {
      cwd: project.folder,
    }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    );
});
