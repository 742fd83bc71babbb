import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed-project.js";
import { freshDatabase } from "../support/postgres.js";

const run = promisify(execFile);

const PROOF_OF_SUITES = `
  import { afterEach, beforeEach, describe, it } from "node:test";
  import { memoryMeterStore } from "panorama-core";
  import type { HandClock } from "panorama-core/memory";
  import { describeMeter, describeMeterStore } from "panorama-core/testing";

  const open = async (clock: HandClock) => ({
    store: memoryMeterStore({ now: () => clock.now() }),
    close: async () => {},
  });
  describeMeterStore({ describe, it, beforeEach, afterEach }, "in memory", open);
  describeMeter({ describe, it }, "in memory", open, { runs: 20 });
`;

describe("the meter of the packed packages", () => {
  let project: PackedProject;

  beforeAll(async () => {
    const others = ["pg", "@types/pg", "@types/node", "fast-check"];
    project = await PackedProject.with(["panorama-core", "panorama-service"], others);
  });
  afterAll(() => project.remove());

  it("loads nothing of Node.js with the store in memory, and no package but neverthrow and zod", async () => {
    const { metafile } = await build({
      absWorkingDir: project.folder,
      stdin: { contents: 'export * from "panorama-core";', resolveDir: project.folder },
      bundle: true,
      platform: "neutral",
      external: ["neverthrow", "zod"], // a module of Node.js would be an error
      write: false,
      metafile: true,
    });
    const modules = Object.values(metafile.inputs);
    expect(modules.length).toBeGreaterThan(100);
    const packages = modules.flatMap(({ imports }) => imports.filter((one) => one.external).map(({ path }) => path));
    expect([...new Set(packages)].sort()).toEqual(["neverthrow", "zod"]);
  });

  it("commits a hold together with a row of the program, on PostgreSQL", async () => {
    await project.compile(["test/examples/embedding/meter-on-postgres.ts"], ["--skipDefaultLibCheck"]);
    const env = { ...process.env, DATABASE_URL: await freshDatabase() };
    const { stdout } = await run(process.execPath, ["meter-on-postgres.js"], { cwd: project.folder, env });
    expect(JSON.parse(stdout)).toEqual({ third: "insufficient_credits", jobs: 2, balance: 7 });
  });

  it("passes the contract suites with its memory store", async () => {
    await writeFile(join(project.folder, "suites.ts"), PROOF_OF_SUITES);
    await project.compileOwn(["suites.ts"]);
    const { stdout } = await run(process.execPath, ["--test", "suites.js"], { cwd: project.folder });
    expect(stdout).toContain("# fail 0");
  });
});
