import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const KILOBYTES_MAX = 15;

describe("panorama-client, bundled for a browser with everything that it exports", () => {
  it(`is at most ${KILOBYTES_MAX} kB compressed and imports neither zod nor Node.js modules`, async () => {
    const { metafile, outputFiles } = await build({
      stdin: { contents: 'export * from "./adapters/client/panorama-client.js";', resolveDir: resolve(".") },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser", // a module of Node.js would be an error
      metafile: true,
      write: false,
    });
    const packages = Object.keys(metafile.inputs).flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
    expect(packages).toEqual(["neverthrow"]);
    expect(gzipSync(outputFiles[0]?.contents ?? "").length).toBeLessThanOrEqual(KILOBYTES_MAX * 1000);
  });
});
