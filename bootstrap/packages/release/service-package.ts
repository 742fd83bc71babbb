import { cpSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { NOT_BUNDLED } from "../not-bundled.js";
import { inEntries, writeEmbedding, writeEntries } from "./library-files.js";
import { exported, NEVERTHROW, PACKAGE_JSON, project, root, type Target, target, versionsOf } from "./manifest.js";
import { writePackage } from "./write-package.js";

/** The package that `overrides` in package.json puts in place of `uWebSockets.js`, which is not in the registry. */
const UWEBSOCKETS = { name: "uwebsockets", version: "3.0.6" };

/** What the bundled command loads at run time, and what public modules use. */
const SERVICE_PACKAGES = [
  ...NOT_BUNDLED.filter((name) => name !== "uWebSockets.js"),
  "cockatiel",
  "ipaddr.js",
  "neverthrow",
  "uuid",
  "zod",
  "zod-openapi",
].sort();

/** The package of an import in a bundle. */
const IMPORTED_PACKAGE = /(?:from |require\(|import\(|import )"((?:@[\w.-]+\/)?[\w:-][\w.:-]*)/g;

const SOURCE_FOLDERS = ["domain", "application", "adapters"];

/** The public modules that no entry has, by their own paths. */
const outsideEntries = Object.fromEntries(
  Object.entries(exported).filter(([path]) => !inEntries.some((module) => path === `./${module.path}`)),
);

/** Throws if a public module imports a package that the package does not depend on. */
const checkImports = async (
  folder: string,
  exports: Readonly<Record<string, Target>>,
  dependencies: Readonly<Record<string, string>>,
): Promise<void> => {
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: Object.values(exports).map((target) => target.default),
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
      const known = external !== true || isBuiltin(path) || name in dependencies;
      // Only the sources need tsx: they load TypeScript in a thread.
      if (!known && name !== "tsx") throw new Error(`${file} imports ${name}: add it to SERVICE_PACKAGES`);
    }
  }
};

/** Everything, with the bundled command, and the sources for whoever reads them. */
export const buildService = async (): Promise<void> => {
  const folder = join(target, "panorama-service");
  // What is in bootstrap/ has no public path: nobody needs its declarations. panorama-testing has the contract suites.
  const unused = /^(dist\/(sources\.sha256|bootstrap\/.*\.d\.c?ts(\.map)?)|(dist\/)?adapters\/contracts)$/;
  cpSync(join(project, "dist"), join(folder, "dist"), {
    recursive: true, // `cp` takes four times as long for these thousands of files
    filter: (path) => !unused.test(relative(project, path)),
  });
  // The declaration maps point to the sources. Those of the scripts in the browser have none.
  const hasNoMaps = (path: string) => /^adapters\/web\/client/.test(relative(project, path));
  for (const source of SOURCE_FOLDERS) {
    const filter = (path: string) => !hasNoMaps(path) && !unused.test(relative(project, path));
    cpSync(join(project, source), join(folder, source), { recursive: true, filter });
  }
  const dependencies = { ...versionsOf(SERVICE_PACKAGES), [UWEBSOCKETS.name]: UWEBSOCKETS.version };
  const exports = { ...(await writeEntries("panorama-service")), ...outsideEntries };
  await checkImports(folder, exports, dependencies);
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
    {
      sideEffects: ["./dist/bootstrap/**", "./dist/bundle/**"],
      bin: root.bin,
      exports: { ...exports, ...PACKAGE_JSON },
      dependencies: { ...dependencies, ...NEVERTHROW },
    },
  );
};
