import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin, type TransformOptions, transform } from "esbuild";
import { clientDeclarations, sourceOf } from "./client-declarations.js";
import { declarationMap } from "./declaration-map.js";
import { deprecatedText, type EntryName, entryModules, entryText, METER_MODULES, withEntryImports } from "./entries.js";
import { licensesOf } from "./licenses-of.js";
import { publicModules } from "./public-modules.js";
import { referenceOf } from "./reference.js";

/**
 * `npm run release`: makes five packages from dist/ in dist-packages/. Each installs from the registry alone, without
 * the `overrides` of this project, and compiles nothing.
 *
 * - panorama-core: domain, application, memory adapters
 * - panorama-testing: contract suites for the ports of panorama-core
 * - panorama-client: the typed client, with what it needs inside
 * - panorama-meter: the meter and its stores, with what they need inside
 * - panorama-service: everything, with the `panorama` command
 *
 * The Python client needs no build: it is copied to dist-python/.
 *
 * What can be imported: the entries that `entries.ts` makes, and the modules of `exports` of package.json, of which
 * those that an entry replaces are deprecated. README.md of each package is in bootstrap/packages/.
 */
type Target = { readonly types: string; readonly default: string };
type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly repository?: unknown;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

const project = fileURLToPath(new URL("../..", import.meta.url));
const target = join(project, "dist-packages");
const pythonTarget = join(project, "dist-python");
const root: Manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
const modules = await publicModules(project);
const inEntries = await entryModules(project, modules);
const exported: Readonly<Record<string, Target>> = Object.fromEntries(
  modules.map(({ path, source }) => {
    const compiled = `./dist/${source.replace(/\.ts$/, "")}`;
    return [`./${path}`, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
  }),
);

/**
 * What the bundled command loads at run time: `NOT_BUNDLED` of bootstrap/packages/bundle-command.ts, and what public
 * modules use.
 */
const SERVICE_PACKAGES = [
  "@aws-sdk/client-s3",
  "@google-cloud/storage",
  "@mikro-orm/core",
  "@mikro-orm/knex",
  "@mikro-orm/migrations",
  "@mikro-orm/postgresql",
  "@opentelemetry/api",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@peculiar/x509",
  "@photostructure/sqlite",
  "@trustnxt/c2pa-ts",
  "busboy",
  "cockatiel",
  "ipaddr.js",
  "neverthrow",
  "nodemailer",
  "pg",
  "selfsigned",
  "sharp",
  "stripe",
  "undici",
  "uuid",
  "zod",
  "zod-openapi",
];

/** The package that `overrides` in package.json puts in place of `uWebSockets.js`, which is not in the registry. */
const UWEBSOCKETS = { name: "uwebsockets", version: "3.0.6" };

const versionOf = (name: string): string => {
  const version = root.dependencies[name] ?? root.optionalDependencies[name] ?? root.devDependencies[name];
  if (version === undefined) throw new Error(`package.json has no dependency ${name}`);
  return version;
};
const versionsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, versionOf(name)]));

/** The exports of the package with one of these paths, or below it. */
const exportsOf = (folders: readonly string[]): Readonly<Record<string, Target>> =>
  Object.fromEntries(
    Object.entries(exported).filter(([path]) => folders.some((folder) => `${path}/`.startsWith(`./${folder}/`))),
  );

const PACKAGE_JSON = { "./package.json": "./package.json" };

/** The part of the changelog for those who import the library: its entries "For the library", and their headings. */
const libraryChanges = (changes: string): string => {
  const lines = changes.split("\n").filter((line) => line.startsWith("#") || line.startsWith("- For the library"));
  const isEmpty = (line: string, n: number) => line.startsWith("### ") && lines[n + 1]?.startsWith("- ") !== true;
  const text = lines
    .filter((line, n) => !isEmpty(line, n))
    .map((line) => (line.startsWith("#") ? `\n${line}\n` : line));
  return `${text
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimStart()}\n`;
};

/** Where `"moduleResolution": "node10"`, which does not know `exports`, finds declarations. */
const forOldResolution = (exports: Readonly<Record<string, Target | string>>) => {
  const targets = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[path.slice(2), target] as const],
  );
  const [, main] = targets.find(([path]) => path === "") ?? [];
  const paths = Object.fromEntries(targets.flatMap(([path, { types }]) => (path === "" ? [] : [[path, [types]]])));
  return { main: main?.default, types: main?.types, typesVersions: { "*": paths } };
};

const writePackage = async (
  name: string,
  description: string,
  folders: readonly string[],
  manifest: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const folder = join(target, name);
  const { version, license, engines, repository } = root;
  const common = { name, version, description, license, type: "module", engines, repository };
  const old = forOldResolution(manifest.exports as Readonly<Record<string, Target | string>>);
  await writeFile(
    join(folder, "package.json"),
    `${JSON.stringify({ ...common, ...manifest, ...old, files: [...folders, "CHANGELOG.md"] }, undefined, 2)}\n`,
  );
  await cp(join(project, "LICENSE"), join(folder, "LICENSE"));
  const [latest, before] = await Promise.all(
    ["CHANGELOG.md", "CHANGELOG-2.0.0.md"].map((file) => readFile(join(project, file), "utf8")),
  );
  const changes = `${latest?.split("## 2.0.0", 1)}## 2.0.0${before?.split("## 2.0.0")[1]}`;
  await writeFile(join(folder, "CHANGELOG.md"), name === "panorama-service" ? changes : libraryChanges(changes));
  await cp(join(project, "bootstrap/packages", `${name}.md`), join(folder, "README.md"));
  await writeFile(join(folder, "REFERENCE.md"), await referenceOf(folder, name !== "panorama-core"));
  console.log(`${relative(project, folder)}: its reference is REFERENCE.md`);
};

/**
 * Copies the compiled modules of a folder, without their sources and maps, which are as large as all else together. The
 * comments are in the declarations; the scripts have none.
 */
const copyModules = async (name: string, folder: string, options: TransformOptions): Promise<void> => {
  const compiled = join(target, name, "dist", folder);
  await cp(join(project, "dist", folder), compiled, { recursive: true });
  for (const file of await readdir(compiled, { recursive: true })) {
    const path = join(compiled, file);
    if (file.endsWith(".js")) {
      const { code } = await transform(await readFile(path, "utf8"), {
        ...options,
        charset: "utf8",
        format: "esm",
        legalComments: "none",
      });
      await writeFile(path, code);
    } else if (file.endsWith(".d.ts.map")) {
      await rm(path);
    } else if (file.endsWith(".d.ts")) {
      await writeFile(path, (await readFile(path, "utf8")).replace(/\/\/# sourceMappingURL=.*\n?$/, ""));
    }
  }
};

/** Still readable in a stack trace. */
const SHORT = { minifySyntax: true } as const;
const CORE_FOLDERS = ["domain", "application", "adapters/memory", "adapters/wording"];

/** A range, so that a package manager installs one copy for a program that uses it, too. */
const NEVERTHROW = { neverthrow: `^${versionOf("neverthrow")}` };

/** The path of a package that an entry is. */
const ENTRY_PATHS: Readonly<Record<EntryName, string>> = {
  core: "panorama-core",
  memory: "panorama-core/memory",
  testing: "panorama-testing",
};

/** Writes an entry module into the package, and returns where it is. */
const writeEntry = async (name: string, entry: EntryName): Promise<Target> => {
  await mkdir(join(target, name, "dist/entries"), { recursive: true });
  const text = entryText(inEntries, entry, "..");
  const types = `./dist/entries/${entry}.d.ts`;
  await writeFile(join(target, name, types), text);
  const script = `./dist/entries/${entry}.js`;
  await writeFile(join(target, name, script), (await transform(text, { loader: "ts" })).code);
  return { types, default: script };
};

/** Writes the declarations of the paths of 2.0 that an entry replaces, and returns all paths. */
const withDeprecated = async (name: string, targets: Readonly<Record<string, Target>>) => {
  const replaced = inEntries.flatMap((module) => {
    const target = targets[`./${module.path}`];
    return target === undefined || module.path.startsWith("wording/") ? [] : [{ module, target }];
  });
  const written = await Promise.all(
    replaced.map(async ({ module, target: { default: script } }) => {
      const types = `./dist/deprecated/${module.path}.d.ts`;
      const path = ENTRY_PATHS[module.entry];
      const replacement = module.entry === "testing" ? path : path.replace("panorama-core", name);
      await mkdir(dirname(join(target, name, types)), { recursive: true });
      const dist = module.path.replaceAll(/[^/]+/g, "..");
      await writeFile(join(target, name, types), deprecatedText(module, replacement, dist));
      return [`./${module.path}`, { types, default: script }] as const;
    }),
  );
  const others = Object.entries(targets).filter(([path]) => !path.startsWith("./wording/"));
  return { ...Object.fromEntries(others), ...Object.fromEntries(written) };
};

/** The entries of panorama-core, which panorama-service has, too. */
const writeEntries = async (name: string) => ({
  ".": await writeEntry(name, "core"),
  "./memory": await writeEntry(name, "memory"),
});

const buildCore = async (): Promise<void> => {
  for (const folder of CORE_FOLDERS) await copyModules("panorama-core", folder, SHORT);
  // For the paths of 2.0; panorama-testing has the suites as they are written.
  await copyModules("panorama-core", "adapters/contracts", { minify: true });
  const deep = await withDeprecated("panorama-core", exportsOf(["domain", "application", "memory", "contracts"]));
  await writeEmbedding("panorama-core");
  await writePackage(
    "panorama-core",
    "The domain and the use cases of the panorama service, with memory adapters",
    ["dist", ...EMBEDDING],
    {
      sideEffects: false,
      exports: { ...(await writeEntries("panorama-core")), ...deep, ...PACKAGE_JSON },
      dependencies: { ...NEVERTHROW, ...versionsOf(["zod"]) },
    },
  );
};

/** The contract suites as they are written, for the one copy of panorama-core that the project has. */
const buildTesting = async (): Promise<void> => {
  const folder = join(target, "panorama-testing");
  for (const root of ["", "dist/"]) {
    const suites = "adapters/contracts";
    await cp(join(project, root, suites), join(folder, root, suites), { recursive: true });
    for (const file of await readdir(join(folder, root, suites), { recursive: true })) {
      if (!file.endsWith(".ts") && !file.endsWith(".js")) continue;
      const path = join(folder, root, suites, file);
      await writeFile(path, withEntryImports(await readFile(path, "utf8"), join(suites, file), inEntries));
    }
  }
  await writePackage(
    "panorama-testing",
    "Contract suites for the ports of panorama-core: prove a store, a provider or a storage of your own",
    ["dist", "adapters", "REFERENCE.md"],
    {
      sideEffects: false,
      exports: { ".": await writeEntry("panorama-testing", "testing"), ...PACKAGE_JSON },
      dependencies: { "fast-check": FAST_CHECK, ...NEVERTHROW },
      peerDependencies: { "panorama-core": `^${root.version}` },
    },
  );
};

/** The oldest version with everything that the suites use, so that a project keeps its own. */
const FAST_CHECK = ">=3.10.0";

const EMBEDDING = ["EMBEDDING.md", "MIGRATION.md", "REFERENCE.md", "examples"];

/**
 * EMBEDDING.md with its examples, and MIGRATION.md. What leads to other documents of the project is text without a link.
 */
const writeEmbedding = async (name: string): Promise<void> => {
  const folder = join(target, name);
  await cp(join(project, "test/examples"), join(folder, "examples"), {
    recursive: true,
    filter: (path) => !path.includes("http-provider"),
  });
  for (const document of ["EMBEDDING.md", "MIGRATION.md"]) {
    const text = (await readFile(join(project, document), "utf8"))
      .replaceAll("test/examples/", "examples/")
      .replaceAll(/\[([^\]]+)\]\((?!#|examples\/|CHANGELOG\.md)[^)]+\)/g, "$1");
    await writeFile(join(folder, document), text);
  }
};

/** zod's messages in other languages, which are most of its size. The client shows none of them. */
const withoutLocales: Plugin = {
  name: "without the locales of zod",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export {};" }));
  },
};

/** The modules of the core that make the client's arguments, or explain its errors. */
const CLIENT_CORE = ["domain/creation-request", "domain/image-type", "domain/invalid-request", "domain/task-filter"];

/** A public path of a bundled package, and its compiled module. */
type BundledModule = { readonly path: string; readonly target: Target };

/** Bundles modules with the packages that they need, so that the package depends on nothing but `external`. */
const bundle = async (
  name: string,
  modules: readonly string[],
  options: Pick<BuildOptions, "platform" | "external" | "minify">,
): Promise<void> => {
  const folder = join(target, name);
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: [...modules],
    outdir: join(folder, "dist"),
    outbase: "dist",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    mainFields: ["module", "main"],
    target: "es2022",
    format: "esm",
    legalComments: "none",
    plugins: [withoutLocales],
    metafile: true,
    logLevel: "warning",
    ...options,
  });
  await writeFile(join(folder, "LICENSES.txt"), await licensesOf(name, Object.keys(metafile.inputs)));
};

const sourcesOf = (modules: readonly BundledModule[]): readonly string[] =>
  modules.map(({ target }) => target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "$1.ts"));

const exportsOfBundle = (modules: readonly BundledModule[]) => ({
  ...Object.fromEntries(modules.map(({ path, target }) => [path, target])),
  ...PACKAGE_JSON,
});

/** Bundles the client with neverthrow and zod, so that it depends on nothing. It runs in Node.js and in browsers. */
const buildClient = async (): Promise<void> => {
  const folder = join(target, "panorama-client");
  const modules = Object.entries(exportsOf(["client", ...CLIENT_CORE])).map(([path, target]) => {
    const name = path.split("/").at(-1);
    return { path: name === "panorama-client" ? "." : `./${name}`, target };
  });
  await bundle(
    "panorama-client",
    modules.map(({ target }) => target.default),
    { platform: "neutral" },
  );
  const { declarations, sources } = clientDeclarations(project, sourcesOf(modules));
  for (const source of sources) await cp(join(project, source), join(folder, source));
  for (const [file, text] of declarations) {
    const path = join(folder, "dist", file);
    const source = sourceOf(file);
    const name = basename(file);
    await mkdir(dirname(path), { recursive: true });
    if (!sources.includes(source)) {
      await writeFile(path, text);
      continue;
    }
    const sourceText = await readFile(join(project, source), "utf8");
    const map = declarationMap(name, text, relative(dirname(path), join(folder, source)), sourceText);
    await writeFile(`${path}.map`, map);
    await writeFile(path, `${text}//# sourceMappingURL=${name}.map\n`);
  }
  const folders = [...new Set(sources.map((source) => source.split("/")[0] ?? ""))];
  await writePackage(
    "panorama-client",
    "The typed client of the panorama service",
    ["dist", ...folders, "LICENSES.txt", "REFERENCE.md"],
    {
      sideEffects: false,
      exports: exportsOfBundle(modules),
    },
  );
};

const METER_COMMAND = "./dist/bootstrap/meter/command.js";

/**
 * Bundles the meter with neverthrow, whose package would install a compiler's module, and with no driver of a database:
 * its user passes a pool or a connection. So the package depends on nothing.
 */
const buildMeter = async (): Promise<void> => {
  const modules = Object.entries(METER_MODULES).map(([path, module]) => ({
    path,
    target: { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` },
  }));
  await bundle("panorama-meter", [...modules.map(({ target }) => target.default), METER_COMMAND], {
    platform: "node",
    external: ["fast-check", "pg"],
  });
  const { declarations } = clientDeclarations(project, sourcesOf(modules));
  for (const [file, text] of declarations) {
    const path = join(target, "panorama-meter/dist", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await writePackage(
    "panorama-meter",
    "Credits, limits and idempotency for any product: exact after crashes, on PostgreSQL, SQLite or in memory",
    ["dist", "LICENSES.txt", "REFERENCE.md"],
    {
      sideEffects: false,
      keywords: ["credits", "billing", "metering", "usage", "quota", "rate-limit", "idempotency", "ledger"],
      bin: { "panorama-meter": METER_COMMAND },
      exports: exportsOfBundle(modules),
      peerDependencies: { "fast-check": ">=3", pg: "^8.11.0" },
      peerDependenciesMeta: { "fast-check": { optional: true }, pg: { optional: true } },
    },
  );
};

/** The package of an import in a bundle. */
const IMPORTED_PACKAGE = /(?:from |require\(|import\(|import )"((?:@[\w.-]+\/)?[\w:-][\w.:-]*)/g;

const SOURCE_FOLDERS = ["domain", "application", "adapters"];

/** Throws if a public module imports a package that the package does not depend on. */
const checkImports = async (folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> => {
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: Object.values(exported).map((target) => target.default),
    outdir: "unused",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    packages: "external",
    write: false,
    metafile: true,
  });
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    for (const { path, external } of imports) {
      const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
      const known = external !== true || isBuiltin(path) || name in dependencies || name === "fast-check";
      // Only the sources need tsx: they load TypeScript in a thread.
      if (!known && name !== "tsx") throw new Error(`${file} imports ${name}: add it to SERVICE_PACKAGES`);
    }
  }
};

const buildService = async (): Promise<void> => {
  const folder = join(target, "panorama-service");
  await cp(join(project, "dist"), join(folder, "dist"), { recursive: true });
  await rm(join(folder, "dist/sources.sha256"), { force: true });
  // The declaration maps point to the sources. Those of the scripts in the browser have none.
  const hasNoMaps = (path: string) => /^adapters\/(web\/client|client\/python)/.test(relative(project, path));
  for (const source of SOURCE_FOLDERS) {
    await cp(join(project, source), join(folder, source), {
      recursive: true,
      filter: (path) => !hasNoMaps(path),
    });
  }
  const dependencies = { ...versionsOf(SERVICE_PACKAGES), [UWEBSOCKETS.name]: UWEBSOCKETS.version };
  await checkImports(folder, dependencies);
  // The bundled command imports the package of the registry by its own name.
  for (const file of await readdir(join(folder, "dist/bundle"))) {
    if (!file.endsWith(".js")) continue;
    const path = join(folder, "dist/bundle", file);
    const text = await readFile(path, "utf8");
    const renamed = text.replaceAll('require("uWebSockets.js")', `require("${UWEBSOCKETS.name}")`);
    if (renamed !== text) await writeFile(path, renamed);
    for (const [, name = ""] of renamed.matchAll(IMPORTED_PACKAGE)) {
      // tsx runs the sources, not the bundle. The examples of /docs import panorama-client: they are text.
      const known = isBuiltin(name) || name in dependencies || name === "tsx" || name === "panorama-client";
      if (!known) throw new Error(`The command imports ${name}: add it to SERVICE_PACKAGES`);
    }
  }
  await writeEmbedding("panorama-service");
  await writePackage(
    "panorama-service",
    "360° panoramas from text and reference images: the service, its command, and its library",
    ["dist", ...SOURCE_FOLDERS, ...EMBEDDING],
    {
      sideEffects: ["./dist/bootstrap/**", "./dist/bundle/**"],
      bin: root.bin,
      exports: {
        ...(await writeEntries("panorama-service")),
        ...(await withDeprecated("panorama-service", exported)),
        ...PACKAGE_JSON,
      },
      dependencies: { ...dependencies, ...NEVERTHROW },
    },
  );
};

const copyPython = async (): Promise<void> => {
  const filter = (path: string) => !path.endsWith("__pycache__");
  await cp(join(project, "adapters/client/python"), pythonTarget, { recursive: true, filter });
  await cp(join(project, "LICENSE"), join(pythonTarget, "LICENSE"));
};

for (const folder of [target, pythonTarget]) await rm(folder, { recursive: true, force: true });
await buildCore();
await buildTesting();
await buildClient();
await buildMeter();
await buildService();
await copyPython();
