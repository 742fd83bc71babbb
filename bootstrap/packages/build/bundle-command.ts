import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { licensesOf } from "./licenses-of.js";

/**
 * A step of `npm run build`: bundles the compiled command, dist/bootstrap/main.js, with the packages that it imports.
 * Node.js takes much longer to find and open a thousand small modules than to run them. The compiled modules stay where
 * they are: they are what the package exports. A dynamic import becomes a file of its own, which is loaded when it is
 * needed.
 */
const project = fileURLToPath(new URL("../../..", import.meta.url));
const folder = join(project, "dist/bundle");

/**
 * All that the service needs of @mikro-orm/sqlite. The rest of it needs the package sqlite3, which is compiled at its
 * installation.
 */
const SQLITE_PLATFORM = join(project, "node_modules/@mikro-orm/sqlite/SqlitePlatform.js");

/** Makes `import.meta.url` stay the URL of the compiled module, next to which the module finds its files. */
const keepModuleUrls: Plugin = {
  name: "keep module URLs",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/dist\/(adapters|bootstrap)\/.*\.js$/ }, async ({ path }) => {
      const url = `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url).href`;
      return { contents: (await readFile(path, "utf8")).replaceAll("import.meta.url", url) };
    });
  },
};

/**
 * Dependencies of the package that are bundled all the same. The others have native parts, or are loaded on demand by
 * `import()`: in a bundle, a dynamic import of a CommonJS package has no named exports.
 */
const BUNDLED = [
  "@mikro-orm/core",
  "@mikro-orm/knex",
  "@mikro-orm/postgresql",
  "@mikro-orm/sqlite",
  "cockatiel",
  "ipaddr.js",
  "neverthrow",
  "uuid",
  "zod",
  "zod-openapi",
];

/** Drivers and tools that the ORM would load if it were asked to: it has no connection of its own. */
const NOT_LOADED = [
  "@mikro-orm/reflection",
  "better-sqlite3",
  "libsql",
  "mariadb",
  "mysql",
  "mysql2",
  "oracledb",
  "pg-native",
  "pg-query-stream",
  "sqlite3",
  "tedious",
  "ts-morph",
];
const manifest = await readFile(join(project, "bootstrap/packages/panorama-service/package.json"), "utf8");
const { dependencies, peerDependencies } = JSON.parse(manifest) as Readonly<Record<string, Record<string, string>>>;

const { metafile } = await build({
  absWorkingDir: project,
  entryPoints: ["dist/bootstrap/main.js"],
  outdir: folder,
  bundle: true,
  splitting: true,
  platform: "node",
  target: "node20",
  format: "esm",
  external: [...Object.keys({ ...dependencies, ...peerDependencies }), ...NOT_LOADED].filter(
    (name) => !BUNDLED.includes(name),
  ),
  alias: { "@mikro-orm/sqlite": SQLITE_PLATFORM },
  minifySyntax: true,
  legalComments: "none",
  // Packages in CommonJS require the modules of Node.js.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  plugins: [keepModuleUrls],
  metafile: true,
  logLevel: "warning",
});
await writeFile(join(project, "dist/bootstrap/main.js"), 'import "../bundle/main.js";\n');
await writeFile(join(folder, "LICENSES.txt"), await licensesOf("panorama", Object.keys(metafile.inputs)));
