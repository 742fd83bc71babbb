import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { publint } from "publint";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed-project.js";
import { tarballOf } from "../support/tarball-of.js";

const run = promisify(execFile);

const USE = `
import { credits, definePolicy, err, type MeterStore, memoryMeterStore, meter, ok, type Result } from "panorama-core";
import { HandClock } from "panorama-core/memory";
import { describeMeter, describeMeterStore } from "panorama-core/testing";
import { PanoramaClient } from "panorama-client";

const store: MeterStore = memoryMeterStore();
const result: Result<number, string> = [ok(credits(1)), err("none")][0] ?? ok(0);
console.log([meter, HandClock, PanoramaClient, definePolicy, describeMeter, describeMeterStore, store, result].length);
`;

/** A resolution is one of TypeScript 5 or of 7, which is three times as fast. Each has two of them. */
const TYPESCRIPT_5 = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noEmit: true },
  ...{ target: ts.ScriptTarget.ES2022, types: ["node"] },
};
const TYPESCRIPT_7 = [
  ...["--strict", "--noEmit", "--target", "es2022", "--types", "node"],
  ...["--skipDefaultLibCheck", "--singleThreaded"], // both save processor time: the packages are checked all the same
];

describe("the entries of the packed packages", () => {
  let project: PackedProject;

  beforeAll(async () => {
    const packages = ["panorama-core", "panorama-client"];
    project = await PackedProject.with(packages, ["@types/node", "fast-check"]);
    const sources = { "use.ts": USE, "use.cts": USE };
    for (const [name, text] of Object.entries(sources)) await writeFile(join(project.folder, name), text);
  });
  afterAll(() => project.remove());

  it("compile with nodenext, also in CommonJS", async () => {
    const service = languageService(["use.ts", "use.cts"], {
      ...TYPESCRIPT_5,
      module: ts.ModuleKind.NodeNext,
    });
    const program = service.getProgram();
    // The declarations of others, such as those of the DOM, would take most of the time.
    const own = program?.getSourceFiles().filter(({ fileName }) => !/node_modules\/(?!panorama-)/.test(fileName)) ?? [];
    expect(own.length).toBeGreaterThan(100);
    expect(messagesOf(program?.getGlobalDiagnostics() ?? [])).toEqual([]);
    for (const { fileName } of own) {
      const found = [...service.getSyntacticDiagnostics(fileName), ...service.getSemanticDiagnostics(fileName)];
      expect(messagesOf(found)).toEqual([]);
    }
  });

  it("compile with node10", () => {
    const options = {
      ...TYPESCRIPT_5,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Node10,
      skipLibCheck: true,
    };
    const program = ts.createProgram([join(project.folder, "use.ts")], options);
    expect(messagesOf(ts.getPreEmitDiagnostics(program))).toEqual([]);
  });

  it("compile with bundler", async () => {
    expect(await compiled(["use.ts"], ["--module", "esnext", "--moduleResolution", "bundler"])).toBe("");
  });

  it("compile with node16, with a dynamic import in CommonJS", async () => {
    const lines = (await compiled(["use.ts", "use.cts"], ["--module", "node16"])).trimEnd().split("\n");
    expect(lines.filter((line) => !/^use\.cts.* TS1479: |^ {2}/.test(line))).toEqual([]);
  });

  it("follow the rules of packages for others", async () => {
    for (const name of await readdir("bootstrap/packages")) {
      if (name === "build") continue;
      const { messages } = await publint({ pkgDir: resolve("dist-packages", name), strict: true });
      expect(messages).toEqual([]);
    }
  });

  it("have the files that npm would pack", async () => {
    for (const name of ["panorama-core", "panorama-client", "panorama-service"]) {
      const dryRun = ["pack", "--dry-run", "--json", "--ignore-scripts", resolve("dist-packages", name)];
      const [{ files }] = JSON.parse((await run("npm", dryRun, { maxBuffer: 1e8 })).stdout);
      const packed = (await run("tar", ["-tzf", await tarballOf(name)], { maxBuffer: 1e8 })).stdout.trimEnd();
      const paths = files.map(({ path }: { path: string }) => `package/${path}`);
      expect(packed.split("\n").sort()).toEqual(paths.sort());
    }
  });

  it("have the declarations that the compiler writes if it reads the types of all packages", async () => {
    const outDir = join(project.folder, "types");
    const tsc = resolve("node_modules/typescript-7/bin/tsc");
    const config = "bootstrap/packages/build/tsconfig.types.json";
    await run(process.execPath, [tsc, "-p", config, "--paths", "null", "--outDir", outDir]);
    for (const name of ["panorama-core", "panorama-service"]) {
      const dist = resolve("dist-packages", name, "dist");
      const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith(".d.ts"));
      expect(files.length).toBeGreaterThan(100);
      for (const file of files) {
        expect(await readFile(join(dist, file), "utf8")).toBe(await readFile(join(outDir, file), "utf8"));
      }
    }
  });

  it("use the project's version and dependency versions, neverthrow as a range", async () => {
    const project = await manifestOf(".");
    const versions = { ...project.devDependencies, ...project.optionalDependencies, ...project.dependencies };
    const known = { ...versions, neverthrow: `^${versions.neverthrow}` };
    for (const name of ["panorama-core", "panorama-client", "panorama-service"]) {
      const { version, license, engines, dependencies = {} } = await manifestOf(`bootstrap/packages/${name}`);
      const { version: released, license: of, engines: on } = project;
      expect({ version, license, engines }).toEqual({ version: released, license: of, engines: on });
      expect(known).toMatchObject(dependencies);
    }
  });

  it("need the native HTTP server only for the command, and install it only if somebody asks", async () => {
    const { dependencies, ...service } = await manifestOf("bootstrap/packages/panorama-service");
    expect("uWebSockets.js" in dependencies).toBe(false);
    expect(service.peerDependencies).toEqual({ "uWebSockets.js": "*" });
    expect(service.peerDependenciesMeta).toEqual({ "uWebSockets.js": { optional: true } });
  });

  it("need neverthrow and zod for the core, fast-check for its suites, and nothing for the client", async () => {
    const [core, client] = await Promise.all([
      manifestOf("bootstrap/packages/panorama-core"),
      manifestOf("bootstrap/packages/panorama-client"),
    ]);
    expect(Object.keys(core.dependencies)).toEqual(["neverthrow", "zod"]);
    expect(core.peerDependencies).toEqual({ "fast-check": ">=3.10.0" });
    expect(core.peerDependenciesMeta).toEqual({ "fast-check": { optional: true } });
    expect([client.dependencies, client.peerDependencies]).toEqual([undefined, undefined]);
  });

  it("load nothing of Node.js with a store in memory, and no package but neverthrow and zod", async () => {
    const { metafile } = await build({
      stdin: { contents: 'export * from "panorama-core";', resolveDir: project.folder },
      bundle: true,
      platform: "neutral",
      external: ["neverthrow", "zod"], // a module of Node.js would be an error
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.inputs).flatMap((module) => module.imports.filter((one) => one.external));
    expect(new Set(imports.map(({ path }) => path))).toEqual(new Set(["neverthrow", "zod"]));
  });

  it("come with documents whose links exist", async () => {
    const core = join(project.folder, "node_modules/panorama-core");
    const text = await readFile(join(core, "EMBEDDING.md"), "utf8");
    const links = [...text.matchAll(/\]\((?!#)([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(5);
    await Promise.all(links.map((path) => readFile(join(core, path))));
  });

  it("prove a store with the suites, with node:test", async () => {
    const sources = ["meter-store-of-documents", "prove-meter-store", "prove-storage"];
    await project.compile(sources.map((name) => `test/examples/embedding/${name}.ts`));
    const proofs = ["prove-meter-store.js", "prove-storage.js"];
    const { stdout } = await run(process.execPath, ["--test", ...proofs], { cwd: project.folder });
    expect(stdout).toContain("# fail 0");
  });

  const manifestOf = async (folder: string) => JSON.parse(await readFile(join(folder, "package.json"), "utf8"));

  const languageService = (names: readonly string[], options: ts.CompilerOptions): ts.LanguageService =>
    ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getScriptFileNames: () => names.map((name) => join(project.folder, name)),
      getScriptVersion: () => "1",
      getScriptSnapshot: (name) => {
        const text = ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => project.folder,
      getCompilationSettings: () => options,
    });

  const messagesOf = (found: readonly ts.Diagnostic[]): readonly string[] =>
    found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));

  /** What TypeScript 7 says. */
  const compiled = (files: readonly string[], options: readonly string[]): Promise<string> => {
    const tsc = resolve("node_modules/typescript-7/bin/tsc");
    return run(process.execPath, [tsc, ...TYPESCRIPT_7, ...options, ...files], { cwd: project.folder }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    );
  };
});
