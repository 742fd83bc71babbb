import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed-project.js";
import { freshDatabase } from "../support/postgres.js";

const run = promisify(execFile);

describe("the meter of the packed packages", () => {
  let project: PackedProject;

  beforeAll(async () => {
    const others = ["pg", "@types/pg", "@types/node"];
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
});
