import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { clientDeclarations, sourceOf } from "../client-declarations.js";
import { declarationMap } from "../declaration-map.js";
import { CLIENT_MODULES, METER_MODULES } from "../entries.js";
import { licensesOf } from "../licenses-of.js";
import { PACKAGE_JSON, project, type Target, target } from "./manifest.js";
import { writePackage } from "./write-package.js";

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
    metafile: true,
    logLevel: "warning",
    ...options,
  });
  await writeFile(join(folder, "LICENSES.txt"), await licensesOf(name, Object.keys(metafile.inputs)));
};

const modulesOf = (entries: Readonly<Record<string, string>>): readonly BundledModule[] =>
  Object.entries(entries).map(([path, module]) => ({
    path,
    target: { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` },
  }));

const sourcesOf = (modules: readonly BundledModule[]): readonly string[] =>
  modules.map(({ target }) => target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "$1.ts"));

const exportsOfBundle = (modules: readonly BundledModule[]) => ({
  ...Object.fromEntries(modules.map(({ path, target }) => [path, target])),
  ...PACKAGE_JSON,
});

/** Bundles the client with neverthrow, so that it depends on nothing. It runs in Node.js and in browsers. */
export const buildClient = async (): Promise<void> => {
  const folder = join(target, "panorama-client");
  const modules = modulesOf(CLIENT_MODULES);
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
  await writePackage("panorama-client", "The typed client of the panorama service", {
    sideEffects: false,
    exports: exportsOfBundle(modules),
  });
};

/**
 * Bundles the meter with neverthrow, whose package would install a compiler's module, and with no driver of a database:
 * its user passes a pool or a connection. So the package depends on nothing.
 */
export const buildMeter = async (): Promise<void> => {
  const modules = modulesOf(METER_MODULES);
  await bundle(
    "panorama-meter",
    modules.map(({ target }) => target.default),
    { platform: "node", external: ["fast-check", "pg"] },
  );
  const { declarations } = clientDeclarations(project, sourcesOf(modules));
  for (const [file, text] of declarations) {
    const path = join(target, "panorama-meter/dist", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await writePackage(
    "panorama-meter",
    "Credits, limits and idempotency for any product: exact after crashes, on PostgreSQL, SQLite or in memory",
    {
      sideEffects: false,
      keywords: ["credits", "billing", "metering", "usage", "quota", "rate-limit", "idempotency", "ledger"],
      exports: exportsOfBundle(modules),
      peerDependencies: { "fast-check": ">=3", pg: "^8.11.0" },
      peerDependenciesMeta: { "fast-check": { optional: true }, pg: { optional: true } },
    },
  );
};
