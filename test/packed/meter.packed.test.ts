import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../support/postgres.js";
import { tarballOf } from "../support/tarball-of.js";

const run = promisify(execFile);

const INSTALLED_BYTES_MAX = 500_000;

/** What its user installs as well: for PostgreSQL, for the suites and for TypeScript. */
const BESIDE = ["pg", "@types/pg", "@types/node", "fast-check"];

const PROOF_OF_SUITES = `
  import { afterEach, beforeEach, describe, it } from "node:test";
  import { memory } from "panorama-meter";
  import { describeMeter, describeMeterStore, type HandClock } from "panorama-meter/testing";

  const open = async (clock: HandClock) => ({ store: memory({ now: () => clock.now() }), close: async () => {} });
  describeMeterStore({ describe, it, beforeEach, afterEach }, "in memory", open);
  describeMeter({ describe, it }, "in memory", open, { runs: 20 });
`;

describe("panorama-meter in an empty project", () => {
  let project: string;
  let database: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-meter-"));
    await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
    const tarball = await tarballOf("panorama-meter");
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: project });
    database = await freshDatabase();
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it("is the only package that is installed, and small", async () => {
    const modules = join(project, "node_modules");
    expect((await readdir(modules)).filter((name) => !name.startsWith("."))).toEqual(["panorama-meter"]);
    const files = await readdir(join(modules, "panorama-meter"), { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files.filter((file) => file.isFile()).map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(INSTALLED_BYTES_MAX);
  });

  it("loads nothing of Node.js with the store in memory", async () => {
    const entry = await readFile(join(project, "node_modules/panorama-meter/package.json"), "utf8");
    const { exports } = JSON.parse(entry) as { readonly exports: { readonly ".": { readonly default: string } } };
    const loaded = async (file: string): Promise<readonly string[]> => {
      const imports = [...(await readFile(file, "utf8")).matchAll(/^(?:import|export) [^;]*?"([^"]+)";$/gm)];
      const inner = imports.map(([, path = ""]) => (path.startsWith(".") ? loaded(join(dirname(file), path)) : [path]));
      return (await Promise.all(inner)).flat();
    };
    expect(await loaded(join(project, "node_modules/panorama-meter", exports["."].default))).toEqual([]);
  });

  it("compiles the examples of its README.md strictly, and they print what it says", async () => {
    for (const name of BESIDE) {
      await mkdir(dirname(join(project, "node_modules", name)), { recursive: true });
      await symlink(join(process.cwd(), "node_modules", name), join(project, "node_modules", name));
    }
    const document = await readFile(join(project, "node_modules/panorama-meter/README.md"), "utf8");
    const [quickStart, onPostgres] = [...document.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
    await compile({ quickStart, onPostgres, suites: PROOF_OF_SUITES });
    expect(JSON.parse(await output("quickStart.js"))).toEqual({
      outcomes: ["transcribed", "captured", "insufficient_credits"],
      balance: 20,
    });
    expect(JSON.parse(await output("onPostgres.js"))).toEqual({ third: "insufficient_credits", jobs: 2, balance: 7 });
  });

  it("proves a store with its contract suites", async () => {
    expect(await output("--test", "suites.js")).toContain("# fail 0");
  });

  /** Compiles the sources, by name, as a strict project does. */
  const compile = async (sources: Readonly<Record<string, string | undefined>>): Promise<void> => {
    for (const [name, source] of Object.entries(sources)) await writeFile(join(project, `${name}.ts`), source ?? "");
    // Three times as fast as TypeScript 5, with which the test of entries compiles all entries of the package.
    const tsc = join(process.cwd(), "node_modules/typescript-7/bin/tsc");
    const strict = [
      "--strict",
      "--noUncheckedIndexedAccess",
      "--exactOptionalPropertyTypes",
      "--skipLibCheck",
      "false",
    ];
    const options = ["--module", "nodenext", "--target", "es2022", "--types", "node", ...strict];
    const files = Object.keys(sources).map((name) => `${name}.ts`);
    await run(process.execPath, [tsc, ...options, ...files], { cwd: project }).catch((error) => {
      throw new Error(error.stdout);
    });
  };

  const output = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [...args], { cwd: project, env: { ...process.env, DATABASE_URL: database } })).stdout;
});
