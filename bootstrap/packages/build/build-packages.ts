import { execFile } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path/posix";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";
import { build } from "esbuild";
import { TAR_END, type TarFile, tarEntries } from "../../../adapters/system/tar-archive.js";
import { neededTypes } from "./client-types.js";
import { importedModules, type ReadModule } from "./imported-modules.js";
import { licensesOf } from "./licenses-of.js";

/**
 * `build-packages.ts [FOLDER]`, the last step of `npm run packages` and of `npm run release`: makes the tarballs of the
 * packages from bootstrap/packages/, which has their manifests, entries and README.md, and from dist/. Each installs
 * from the registry alone, without the `overrides` of this project, and compiles nothing.
 */
const SOURCE = "bootstrap/packages";
const TSC = ["node_modules/typescript-7/bin/tsc", "-p", `${SOURCE}/build/tsconfig.types.json`, "--checkers", "1"];
const CLIENT = "adapters/client/panorama-client";

/** All that the package needs of @mikro-orm/sqlite, whose other parts need the package sqlite3 (bundle-command.ts). */
const SQLITE_PLATFORM = 'export { SqlitePlatform } from "./node_modules/@mikro-orm/sqlite/SqlitePlatform.js";';
const SQLITE_PLATFORM_FILE = "dist/adapters/persistence/database/orm/sqlite-platform.js";
/** Tells builds of one version apart (bootstrap/version.ts); a release has its version to itself. */
const DIGEST_FILE = "dist/sources.sha256";
const BUNDLE = { bundle: true, format: "esm", logLevel: "warning", metafile: true, write: false } as const;

type Files = readonly TarFile[];
type Manifest = { readonly version: string; readonly files: readonly string[]; readonly bin?: Record<string, string> };

const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(SOURCE, name, "package.json"), "utf8"));

/** The paths of the files in a folder and in its folders, or of a file. */
const pathsAt = (path: string): readonly string[] =>
  statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => pathsAt(join(path, name))) : [path];
const filesAt = (path: string): Files => pathsAt(path).map((file) => ({ path: file, bytes: readFileSync(file) }));

/** The hand-written files: the manifest, README.md, and the manifest's `files` beside `dist`. */
const documentsOf = (name: string): Files => [
  ...["package.json", "README.md"].map((file) => ({ path: file, bytes: readFileSync(join(SOURCE, name, file)) })),
  ...["LICENSE", ...manifestOf(name).files.filter((path) => path !== "dist")].flatMap(filesAt),
];

const readTypes: ReadModule = (module) => readFileSync(join(types, `${module}.d.ts`), "utf8");
const readCode: ReadModule = (module) => readFileSync(join("dist", `${module}.js`), "utf8");

/** The modules that the entries of a package need. */
const modulesOf = (name: string, read: ReadModule): readonly string[] => {
  const paths = pathsAt(join(SOURCE, name)).filter((path) => path.endsWith(".ts"));
  const entries = paths.map((path) => path.replace(/\.ts$/, ""));
  return importedModules(entries, read);
};

const typesFile = (module: string, text = readTypes(module)): TarFile => {
  return { path: `dist/${module}.d.ts`, bytes: Buffer.from(text) };
};

/** What a package has beside its documents, in parts. */
const PACKAGES: Readonly<Record<string, () => AsyncIterable<Files>>> = {
  "panorama-service": async function* () {
    const { outputFiles } = await build({
      ...BUNDLE,
      stdin: { contents: SQLITE_PLATFORM, resolveDir: "." },
      platform: "node",
      external: ["@mikro-orm/core", "@mikro-orm/knex"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
    yield outputFiles.map(({ contents }) => ({ path: SQLITE_PLATFORM_FILE, bytes: contents }));
    yield filesAt("dist").filter(({ path }) => path !== DIGEST_FILE && path !== SQLITE_PLATFORM_FILE);
    await compiledTypes;
    yield modulesOf("panorama-service", readTypes).map((module) => typesFile(module));
  },
  "panorama-core": async function* () {
    await compiledTypes;
    const modules = modulesOf("panorama-core", (module) => readCode(module) + readTypes(module));
    yield modules.map((module) => ({ path: `dist/${module}.js`, bytes: Buffer.from(readCode(module)) }));
    yield modules.map((module) => typesFile(module));
  },
  // One file with neverthrow, so that the client depends on nothing and runs in browsers.
  "panorama-client": async function* () {
    const { outputFiles, metafile } = await build({
      ...BUNDLE,
      entryPoints: [`${CLIENT}.ts`],
      platform: "neutral",
      mainFields: ["module", "main"],
      target: "es2022",
      legalComments: "none",
    });
    yield outputFiles.map(({ contents }) => ({ path: "dist/panorama-client.js", bytes: contents }));
    const licenses = await licensesOf("panorama-client", Object.keys(metafile.inputs));
    yield [{ path: "dist/LICENSES.txt", bytes: Buffer.from(licenses) }];
    await compiledTypes;
    yield [...neededTypes(CLIENT, readTypes)].map(([module, text]) => typesFile(module, text));
  },
};

/** Compresses each part as soon as it is there. */
const pack = async ([name, parts]: [string, () => AsyncIterable<Files>]): Promise<void> => {
  const { version, bin = {} } = manifestOf(name);
  const packed = ({ path, bytes }: TarFile): TarFile => {
    return { path: `package/${path}`, bytes, executable: Object.values(bin).includes(path) };
  };
  const archive = async function* () {
    yield tarEntries(documentsOf(name).map(packed));
    for await (const files of parts()) yield tarEntries(files.map(packed));
    yield TAR_END;
  };
  await pipeline(archive, createGzip(), createWriteStream(join(folder, `${name}-${version}.tgz`)));
};

const [, , folder = "."] = process.argv;
mkdirSync(folder, { recursive: true });
const types = mkdtempSync(join(tmpdir(), "panorama-types-"));
/** The declarations of all packages, by another process. It does not check types. */
const compiledTypes = promisify(execFile)(process.execPath, [...TSC, "--outDir", types]);
try {
  await Promise.all(Object.entries(PACKAGES).map(pack));
} finally {
  rmSync(types, { recursive: true });
}
