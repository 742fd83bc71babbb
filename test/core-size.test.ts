import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What a program that imports `name` from this file bundles: minified bytes, and the packages and files in it. */
const bundled = async (name: string, source: string) => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: `export { ${name} } from "./${source}";`, resolveDir: resolve(".") },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs);
  return {
    bytes: outputFiles[0]?.contents.length ?? 0,
    packages: [...new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))],
    files: inputs.filter((path) => !path.includes("node_modules") && path !== "<stdin>"),
  };
};

/** The modules that parse the shape of input. Only these, and what imports them, load zod. */
const PARSERS = ["domain/tasks/creation-request.ts", "domain/accounts/parse-key-limits.ts"];

/** The packages that each module of these folders loads, also through others. */
const packagesOfModules = async (folders: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
  const modules = (await Promise.all(folders.map(modulesIn))).flat();
  const { inputs } = (
    await build({
      entryPoints: modules,
      outdir: "unused",
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      metafile: true,
      write: false,
    })
  ).metafile;
  const packagesOf = (module: string, seen = new Set<string>()): readonly string[] => {
    seen.add(module);
    return (inputs[module]?.imports ?? []).flatMap(({ path, external }) =>
      external === true ? [path] : seen.has(path) ? [] : packagesOf(path, seen),
    );
  };
  return new Map(modules.map((module) => [module, [...new Set(packagesOf(module))]]));
};

const modulesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));

describe("the core, bundled for a program that imports one function", () => {
  it.each([
    ["holdCredits", "domain/credits/reservation.ts"],
    ["openTask", "domain/tasks/open-task.ts"],
    ["admitRequest", "domain/credits/rate-limit.ts"],
    ["audit", "domain/credits/ledger-audit.ts"],
    ["creations", "application/panoramas/creations.ts"],
    ["meter", "application/credits/meter.ts"],
    ["memoryMeterStore", "adapters/memory/memory-meter-store.ts"],
  ])("%s has less than 30 kB, and needs no package but neverthrow", async (name, source) => {
    const { bytes, packages, files } = await bundled(name, source);
    expect(packages.filter((name) => name !== "neverthrow")).toEqual([]);
    expect(bytes).toBeLessThan(30_000);
    expect(files.filter((file) => !/^(domain|application|adapters\/memory)\//.test(file))).toEqual([]);
  });

  it("loads zod only where shapes are parsed, and no other package but neverthrow and modules of Node.js", async () => {
    const packages = await packagesOfModules(["domain", "application", "adapters/memory"]);
    expect(packages.size).toBeGreaterThan(120);
    const others = [...packages].flatMap(([module, names]) => {
      const other = names.filter((name) => name !== "neverthrow" && !name.startsWith("node:"));
      return other.length === 0 ? [] : [[module, other]];
    });
    expect(others).toEqual(PARSERS.map((module) => [module, ["zod"]]));
  });

  it("createApplication, with every use case, has less than 104 kB, and needs no package but neverthrow", async () => {
    const { bytes, packages } = await bundled("createApplication", "application/create-application.ts");
    expect(packages).toEqual(["neverthrow"]);
    expect(bytes).toBeLessThan(104_000);
  });

  it("leaves the parser of shapes to the modules that parse", async () => {
    const { packages } = await bundled("parseCreation", "domain/tasks/creation-request.ts");
    expect(packages.sort()).toEqual(["neverthrow", "zod"]);
    // What panorama-core depends on: test/packed/library.program.test.ts installs it.
  });
});
