import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** The packages in a minified bundle of one module, and its size. */
const bundled = async (module: string) => {
  const { metafile, outputFiles } = await build({
    entryPoints: [module],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    write: false,
    metafile: true,
  });
  const packages = Object.keys(metafile.inputs).flatMap((file) => /node_modules\/([^/]+)\//.exec(file)?.[1] ?? []);
  return { packages: [...new Set(packages)], bytes: outputFiles[0]?.contents.length };
};

describe("the module graph of the core", () => {
  it.each([
    "domain/tasks/task.ts",
    "domain/credits/rate-limit.ts",
    "domain/credits/budget.ts",
    "domain/credits/ledger.ts",
  ])("loads neverthrow and no other package for the rules of %s, in at most 30 kB", async (module) => {
    const { packages, bytes } = await bundled(module);
    expect(packages.filter((name) => name !== "neverthrow")).toEqual([]);
    expect(bytes).toBeLessThan(30_000);
  });
});
