import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `npm run build`: compiles into dist/, and bundles what runs in browsers, the MCP server and the command. Types are
 * not checked here. With `--if-changed`, it does nothing if dist/ was built from the same sources: `npm test` after
 * `npm ci`.
 */
const STEPS = [
  ["node_modules/typescript-7/bin/tsc", "-p", "tsconfig.build.json", "--noCheck"],
  ["adapters/web/client/build.mjs", "dist/adapters/web/static"],
  ["--import", "tsx", "bootstrap/packages/build/build-mcp-package.ts"],
  ["--import", "tsx", "bootstrap/packages/build/bundle-command.ts"],
];
const FOLDERS = ["domain", "application", "adapters", "bootstrap"];
const FILES = ["tsconfig.json", "tsconfig.build.json", "package.json", "package-lock.json"];
/**
 * The digest of the sources of a complete build, and the version of Node.js that made it. It tells builds of one
 * version apart (bootstrap/version.ts); `build-packages.ts` leaves it out, because a release has its version to itself.
 */
const DIGEST_FILE = "dist/sources.sha256";

const filesOf = (path) =>
  lstatSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesOf(join(path, name)))
    : [path];

const digest = () => {
  const hash = createHash("sha256");
  for (const path of [...FOLDERS, ...FILES].flatMap(filesOf)) {
    const content = readFileSync(path);
    hash.update(`\n${path} ${content.length}\n`).update(content);
  }
  return `${hash.digest("hex")} ${process.version}`;
};

const isBuiltFrom = (sources) => {
  try {
    return readFileSync(DIGEST_FILE, "utf8") === sources;
  } catch {
    return false; // not built, or not to the end
  }
};

// Before the steps: what changes while they run is built the next time.
const sources = digest();
if (!process.argv.includes("--if-changed") || !isBuiltFrom(sources)) {
  rmSync("dist", { recursive: true, force: true });
  for (const step of STEPS) execFileSync(process.execPath, step, { stdio: "inherit" });
  writeFileSync(DIGEST_FILE, sources);
}
