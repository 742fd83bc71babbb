import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SOURCES = ["viewer.ts", "gallery.ts", "works.ts", "account.ts", "docs.ts", "style.css", "viewer.css", "docs.css"];

const source = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Bundles the scripts and styles of the web pages into `folder`. Each output file is self-contained. */
export const buildClient = async (folder) => {
  await build({
    entryPoints: SOURCES.map(source),
    outdir: folder,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    loader: { ".svg": "dataurl" },
    legalComments: "eof",
    logLevel: "warning",
  });
  await copyFile(source("icon.svg"), join(folder, "icon.svg"));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient(process.argv[2]);
