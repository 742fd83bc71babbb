const { builtinModules } = require("node:module");

/** Adapter folders that every adapter may import: the typed client, what the machine offers, and shared sentences. */
const SHARED = ["adapters/client", "adapters/system", "adapters/wording"];
const CORE = ["domain", "application"];

/** For tests of adapters and of the whole service. */
const TEST_PACKAGES = [
  "@aws-sdk/client-s3",
  "@contentauth/c2pa-wasm",
  "@google-cloud/storage",
  "@microsoft/fetch-event-source",
  "@mikro-orm/core",
  "@mikro-orm/postgresql",
  "@mikro-orm/sqlite",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/sdk",
  "@modelcontextprotocol/server",
  "@peculiar/x509",
  "@photostructure/sqlite",
  "@prometheus-io/lezer-promql",
  "@trustnxt/c2pa-ts",
  "ajv",
  "ajv-formats",
  "esbuild",
  "eventsource",
  "fast-check",
  "fastify",
  "neverthrow",
  "pg",
  "playwright-core",
  "publint",
  "s3rver",
  "selfsigned",
  "sharp",
  "smtp-server",
  "standardwebhooks",
  "stripe",
  "typescript",
  "undici",
  "vitest",
  "wabt",
  "yaml",
  "zod",
];

/**
 * The dependency rule: domain <- application <- adapters <- bootstrap. Each folder lists what it MAY import besides its
 * own files: other folders of the project, npm packages, and whether it may use the modules of Node.js, or which. An
 * import that is not listed is refused, and so is every import of an adapter folder that has no entry here.
 *
 * A folder inside a listed folder may have its own entry. Then the entry of the outer folder does not count for it, and
 * the outer folder must list it to import it.
 */
const MAY_IMPORT = {
  domain: { packages: ["neverthrow", "zod"] },
  application: { folders: ["domain"], packages: ["neverthrow"] },

  "adapters/client": {
    folders: [...CORE, "adapters/system", "adapters/wording"],
    packages: ["neverthrow", "zod"],
    node: true,
  },
  // The contract suites that every adapter of a port passes. They are published, and run with any test runner.
  "adapters/contracts": { folders: [...CORE, "adapters/memory"], packages: ["fast-check", "neverthrow"], node: true },
  "adapters/http": {
    folders: [
      ...CORE,
      ...SHARED,
      "adapters/web-page",
      "adapters/http/servers/native-server",
      "adapters/http/servers/node-server",
    ],
    packages: ["busboy", "hyper-express", "ipaddr.js", "neverthrow", "selfsigned", "zod", "zod-openapi"],
    node: true,
  },
  "adapters/http/servers/native-server": { folders: ["adapters/http"], packages: ["hyper-express"], node: true },
  "adapters/http/servers/node-server": { folders: ["adapters/http"], node: true },
  "adapters/imaging": {
    folders: [...CORE, ...SHARED],
    packages: ["@peculiar/x509", "@trustnxt/c2pa-ts", "neverthrow", "sharp"],
    node: ["crypto"],
  },
  "adapters/mail": { folders: [...CORE, ...SHARED], packages: ["neverthrow", "nodemailer"], node: true },
  "adapters/mcp": {
    folders: [...CORE, ...SHARED],
    packages: ["@modelcontextprotocol/server", "neverthrow", "zod"],
    node: true,
  },
  // Published in panorama-core, which has no package beyond neverthrow and zod.
  "adapters/memory": { folders: [...CORE, "adapters/system"], packages: ["neverthrow"], node: ["crypto"] },
  // Puts the adapters together for embedders; bootstrap/ does so for the service.
  "adapters/node": {
    folders: [
      ...CORE,
      "adapters/imaging",
      "adapters/mail",
      "adapters/memory",
      "adapters/payments",
      "adapters/persistence",
      "adapters/system",
      "adapters/webhooks",
    ],
  },
  "adapters/observability": {
    folders: [...CORE, ...SHARED],
    packages: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace-base",
      "neverthrow",
      "pino",
      "prom-client",
    ],
    node: true,
  },
  "adapters/payments": { folders: [...CORE, ...SHARED], packages: ["neverthrow", "stripe", "zod"] },
  // A clock set by hand waits for stores in memory.
  "adapters/persistence": {
    folders: [...CORE, ...SHARED, "adapters/memory"],
    packages: [
      "@mikro-orm/core",
      "@mikro-orm/knex",
      "@mikro-orm/postgresql",
      "@mikro-orm/sqlite",
      "@photostructure/sqlite",
      "neverthrow",
      "pg",
    ],
    node: true,
  },
  "adapters/provider": {
    folders: [...CORE, ...SHARED, "adapters/provider/remote"],
    packages: ["neverthrow", "undici"],
    node: true,
  },
  "adapters/provider/function": {
    folders: [...CORE, ...SHARED, "adapters/provider"],
    packages: ["neverthrow", "zod"],
    node: true,
  },
  "adapters/provider/local": {
    folders: [...CORE, ...SHARED, "adapters/provider"],
    packages: ["neverthrow", "sharp", "zod"],
    node: true,
  },
  "adapters/provider/remote": {
    folders: [...CORE, ...SHARED, "adapters/provider"],
    packages: ["cockatiel", "neverthrow", "sharp", "undici", "zod"],
    node: true,
  },
  "adapters/scheduling": { folders: [...CORE, ...SHARED], packages: ["node-cron"] },
  "adapters/storage": {
    folders: [...CORE, ...SHARED],
    packages: ["@aws-sdk/client-s3", "@google-cloud/storage", "neverthrow"],
    node: true,
  },
  "adapters/system": {
    folders: [...CORE, "adapters/wording"],
    packages: ["neverthrow", "sharp", "uuid"],
    node: true,
  },
  "adapters/terminal": { folders: [...CORE, ...SHARED], packages: ["neverthrow"], node: true },
  "adapters/web": {
    folders: [...CORE, ...SHARED, "adapters/web-page"],
    packages: ["@highlightjs/cdn-assets", "marked", "neverthrow"],
    node: true,
  },
  // Runs in the browser; only its build script uses esbuild and Node.js.
  "adapters/web/client": {
    packages: [
      "@fontsource/bricolage-grotesque",
      "@photo-sphere-viewer/autorotate-plugin",
      "@photo-sphere-viewer/core",
      "esbuild",
      "sharp",
      "subset-font",
    ],
    node: true,
  },
  "adapters/web-page": { folders: [...CORE, "adapters/wording"], node: ["crypto"] },
  "adapters/webhooks": { folders: [...CORE, ...SHARED], packages: ["undici"], node: true },
  "adapters/wording": { folders: CORE },

  bootstrap: {
    folders: [...CORE, "adapters"],
    packages: ["inversify", "neverthrow", "pg", "pino", "reflect-metadata", "undici", "zod"],
    node: true,
  },

  // The entries of the packages, and what builds them.
  "bootstrap/packages": {
    folders: [...CORE, "adapters"],
    packages: ["esbuild", "neverthrow"],
    node: true,
  },

  test: {
    folders: [
      ...CORE,
      "adapters",
      "adapters/web/client",
      "bootstrap",
      "test/application",
      "test/bench",
      "test/bootstrap",
      "test/domain",
    ],
    packages: TEST_PACKAGES,
    node: true,
  },
  "test/bench": {
    folders: [...CORE, "adapters", "bootstrap", "test"],
    packages: [...TEST_PACKAGES, "@fastify/rate-limit", "hyper-express"],
    node: true,
  },
  "test/bootstrap": {
    folders: [...CORE, "adapters", "bootstrap", "test"],
    packages: [...TEST_PACKAGES, "inversify", "reflect-metadata"],
    node: true,
  },
  "test/deployment": {
    folders: ["bootstrap", "adapters", "domain", "test", "test/bench"],
    packages: ["dockerfile-ast", "dockerfile-utils", "sharp", "undici", "vitest", "yaml"],
    node: true,
  },
  "test/packages": { folders: ["bootstrap/packages", "test"], packages: ["esbuild", "vitest"], node: true },
  "test/mutation": {
    folders: ["adapters/memory", "adapters/persistence", "adapters/contracts", "test"],
    packages: ["@stryker-mutator/core", "fast-check", "vitest"],
    node: true,
  },
  "test/domain": {
    folders: ["adapters/contracts", "domain", "test"],
    // `ipaddr.js` has a list of special networks by another author, with which that of the domain must agree.
    packages: ["fast-check", "ipaddr.js", "neverthrow", "vitest", "zod"],
  },
  "test/application": {
    folders: [...CORE, "adapters/memory", "adapters/persistence", "adapters/contracts", "test"],
    packages: ["fast-check", "neverthrow", "vitest"],
  },
};

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const inFolder = (folder) => `^${escaped(folder)}/`;
/** The listed folders inside this one. */
const within = (folder) => Object.keys(MAY_IMPORT).filter((other) => other.startsWith(`${folder}/`));
/** The files of a listed folder without those of listed folders inside it. */
const filesOf = (folder) => {
  const inner = within(folder).map((other) => escaped(`${other.slice(folder.length + 1)}/`));
  return inner.length === 0 ? inFolder(folder) : `^${escaped(folder)}/(?!${inner.join("|")})`;
};
/** "adapters" stands for every adapter folder but the browser's scripts. */
const allowed = (folder) => (folder === "adapters" ? "^adapters/(?!web/client/)" : filesOf(folder));
const packageFiles = (name) => `(^|/)node_modules/(@types/)?${escaped(name)}/`;
/** `true`: all. */
const nodeModules = (names) => `^(node:)?(${(names === true ? builtinModules : names).map(escaped).join("|")})$`;

const allowLists = Object.entries(MAY_IMPORT).map(([folder, { folders = [], packages = [], node = false }]) => ({
  name: `${folder} imports only what it lists`,
  severity: "error",
  from: { path: filesOf(folder) },
  to: {
    couldNotResolve: false,
    pathNot: [
      filesOf(folder),
      ...folders.map(allowed),
      ...packages.map(packageFiles),
      ...(node ? [nodeModules(node)] : []),
    ],
  },
}));

const ADAPTERS = Object.keys(MAY_IMPORT).filter((folder) => folder.startsWith("adapters/"));

/** The folder of one remote provider: any folder in remote/ but those that all of them share. */
const ONE_PROVIDER = "^adapters/provider/remote/(?!answers/|calls/|images/|webhooks/|workflows/)([^/]+)/";

/** The files of application/ that put the use cases together. They may import all of it. */
const COMPOSITION = "^application/create-application[.]ts$";
/** What every use case may import: the ports, and the other files at the top of application/. */
const BASE = "^application/(ports/|(?!create-application)[^/]+$)";

/**
 * The order inside application/: the base <- the folders of use cases, side by side <- background/ <- the composition.
 */
const applicationOrder = [
  {
    name: "the base of application/ imports no use case",
    severity: "error",
    from: { path: BASE },
    to: { path: "^application/", pathNot: BASE },
  },
  {
    name: "a folder of use cases imports only the base of application/",
    severity: "error",
    from: { path: "^application/(?!ports/|background/)([^/]+)/" },
    to: { path: "^application/", pathNot: [BASE, "^application/$1/"] },
  },
  {
    name: "background/ does not import what puts the application together",
    severity: "error",
    from: { path: "^application/background/" },
    to: { path: COMPOSITION },
  },
];

/** Folders inside a folder, in their order: none imports a later one, so that no circle of folders comes about. */
const ORDERS = {
  domain: ["credits", "accounts", "images", "webhooks", "tasks"],
  "adapters/persistence": ["database", "tasks|accounts|credits|webhooks|references|limits"],
  "adapters/persistence/database": ["sql", "schema", "orm", "sqlite", "postgres"],
  "adapters/http": ["replies", "requests", "limits", "servers", "routes", "openapi"],
};

/** The stores that read and write entities; the tables as entities, and what puts them and the ORM together. */
const ENTITY_STORES =
  "^adapters/persistence/(accounts/sql-(?!operator-store|installation-secrets)[^/]+|webhooks/sql-endpoint-store|database/orm/.+|database/schema/schema|sql-stores|entity-stores|memory-stores)[.]ts$";

const folderOrders = Object.entries(ORDERS).flatMap(([folder, rooms]) =>
  rooms.slice(0, -1).map((room, index) => ({
    name: `${folder}/${room} imports no later folder of ${folder}`,
    severity: "error",
    from: { path: `^${folder}/${room}/` },
    to: { path: `^${folder}/(${rooms.slice(index + 1).join("|")})/` },
  })),
);

module.exports = {
  forbidden: [
    ...allowLists,
    ...applicationOrder,
    ...folderOrders,
    {
      name: "a prepared store does not reach the ORM",
      comment: "It is loaded with the first request. The line is drawn for each store: adapters/persistence/README.md.",
      severity: "error",
      from: { path: "^adapters/persistence/", pathNot: ENTITY_STORES },
      to: { path: "(^|/)node_modules/@mikro-orm/", reachable: true },
    },
    {
      name: "an adapter folder without a list imports nothing",
      comment: "Add an entry for the new folder to MAY_IMPORT in .dependency-cruiser.cjs.",
      severity: "error",
      from: { path: "^adapters/", pathNot: ADAPTERS.map(inFolder) },
      to: {},
    },
    {
      name: "one remote provider does not import another",
      severity: "error",
      from: { path: ONE_PROVIDER },
      to: { path: ONE_PROVIDER, pathNot: "^adapters/provider/remote/$1/" },
    },
    { name: "no import cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "every import resolves", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // The examples import the packages by name; `npm run verify packages` compiles them.
    exclude: { path: "^(dist|dist-packages|test/examples)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      // A run takes longer than the four seconds for which it would remember what is in a folder.
      cachedInputFileSystem: { cacheDuration: 60_000 },
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
    },
  },
};
