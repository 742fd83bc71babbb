import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { typesWithoutPackages } from "./client-types.js";
import { licensesOf } from "./licenses-of.js";

/**
 * A step of `npm run release`: makes the packages in dist-packages/ from bootstrap/packages/, which has their
 * manifests, entries and README.md, and from dist/. Each installs from the registry alone, without the `overrides` of
 * this project, and compiles nothing.
 */
const SOURCE = "bootstrap/packages";
const TARGET = "dist-packages";
const TSC = "node_modules/typescript-7/bin/tsc";
const CLIENT = "adapters/client/panorama-client.ts";

/** All that the package needs of @mikro-orm/sqlite, whose other parts need the package sqlite3 (bundle-command.ts). */
const SQLITE_PLATFORM = 'export { SqlitePlatform } from "./node_modules/@mikro-orm/sqlite/SqlitePlatform.js";';

/** Copies the hand-written files: the manifest, README.md, and the manifest's `files` beside `dist`. */
const copyDocuments = (name: string): string => {
  const folder = join(TARGET, name);
  for (const file of ["package.json", "README.md"]) cpSync(join(SOURCE, name, file), join(folder, file));
  const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { files: readonly string[] };
  for (const path of ["LICENSE", ...files]) {
    if (path !== "dist") cpSync(path, join(folder, path), { recursive: true });
  }
  return folder;
};

/** Compiles the entries of a package and what they import. Types are not checked here. */
const compile = async (name: string): Promise<void> => {
  await promisify(execFile)(process.execPath, [TSC, "-p", join(SOURCE, name), "--noCheck"]);
};

rmSync(TARGET, { recursive: true, force: true });

copyDocuments("panorama-core");
const core = compile("panorama-core"); // while this process makes the others

// The digest tells builds of one version apart (bootstrap/version.ts), and a release has its version to itself.
const service = copyDocuments("panorama-service");
const filter = (path: string): boolean => path !== join("dist", "sources.sha256");
cpSync("dist", join(service, "dist"), { recursive: true, filter });
const compiled = compile("panorama-service");
const platform = () =>
  build({
    stdin: { contents: SQLITE_PLATFORM, resolveDir: "." },
    outfile: join(service, "dist/adapters/persistence/database/orm/sqlite-platform.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["@mikro-orm/core", "@mikro-orm/knex"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    allowOverwrite: true,
    logLevel: "warning",
  });

// One file with neverthrow, so that the client depends on nothing and runs in browsers.
const client = copyDocuments("panorama-client");
const { metafile } = await build({
  entryPoints: [CLIENT],
  outdir: join(client, "dist"),
  bundle: true,
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2022",
  format: "esm",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
writeFileSync(join(client, "LICENSES.txt"), await licensesOf("panorama-client", Object.keys(metafile.inputs)));
for (const [file, text] of typesWithoutPackages(process.cwd(), CLIENT)) {
  const path = join(client, "dist", file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

await Promise.all([core, compiled]);
await platform();
