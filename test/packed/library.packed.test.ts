import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarballOf } from "../support/tarball-of.js";

const run = promisify(execFile);

/** The TypeScript example in a section of a document. */
const exampleOf = async (document: string, heading: string): Promise<string> => {
  const example = new RegExp(`^## ${heading}$.*?^\`\`\`ts\\n(.*?)^\`\`\`$`, "ms").exec(
    await readFile(document, "utf8"),
  )?.[1];
  if (example === undefined) throw new Error(`${document} has no TypeScript block in "${heading}".`);
  return example;
};

describe("the packed packages in an empty project", () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-embedding-"));
    await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
    await install(await tarballOf("panorama-core"));
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it("are neverthrow and zod beside panorama-core, and none of the packages that only the service needs", async () => {
    expect(await installed()).toEqual(["neverthrow", "panorama-core", "zod"]);
  });

  it("install beside fast-check 3, with the contract suites", async () => {
    const fastCheck = join(project, "fast-check-3.10.0.tgz");
    await mkdir(join(project, "package"));
    await writeFile(join(project, "package/package.json"), '{ "name": "fast-check", "version": "3.10.0" }');
    await run("tar", ["-czf", fastCheck, "package"], { cwd: project });
    await install("--save-dev", fastCheck, await tarballOf("panorama-testing"));
    expect(await installed()).toEqual(["fast-check", "neverthrow", "panorama-core", "panorama-testing", "zod"]);
    const { version } = JSON.parse(await readFile(join(project, "node_modules/fast-check/package.json"), "utf8"));
    expect(version).toBe("3.10.0");
  });

  it("compile the examples of the documents", async () => {
    await compile({
      meter: await exampleOf("README.md", "Embedding the library"),
      application: await readFile("test/examples/embedding/application.ts", "utf8"),
      oneUseCase: await readFile("test/examples/embedding/one-use-case.ts", "utf8"),
    });
  });

  it("run the README's example of a meter for another product", async () => {
    expect(await output("meter")).toEqual({ outcomes: ["printed", "captured", "refunded"], credits: 4 });
  });

  it("run the example of the whole application in one call", async () => {
    expect(await output("application")).toEqual({ outcomes: ["succeeded", "failed"], credits: 26 });
  });

  it("run the example of one use case: credits, the concurrency limit, the rate limit", async () => {
    const outcomes = [...Array(5).fill("submitted"), "too_many_active_tasks"];
    expect(await output("oneUseCase")).toEqual({ outcomes, credits: 10, active: 5, admitted: 10 });
  });

  // npm waits five minutes for a registry that is silent, which is the limit of a hook, before it asks again.
  const install = (...args: readonly string[]) => {
    const options = ["--prefer-offline", "--fetch-timeout=60000", "--no-audit", "--no-fund"];
    return run("npm", ["install", ...options, ...args], { cwd: project });
  };

  /** Without what is not for every system. */
  const installed = async (): Promise<readonly string[]> =>
    (await readdir(join(project, "node_modules"))).filter((name) => !/^[.@]/.test(name));

  /** Compiles the sources, by name, as a strict project does. */
  const compile = async (sources: Readonly<Record<string, string>>): Promise<void> => {
    const files = Object.keys(sources).map((name) => `${name}.ts`);
    for (const [name, source] of Object.entries(sources)) await writeFile(join(project, `${name}.ts`), source);
    // Three times as fast as TypeScript 5, with which the test of entries compiles the packages.
    const tsc = join(process.cwd(), "node_modules/typescript-7/bin/tsc");
    const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck", "--singleThreaded"];
    await run(process.execPath, [tsc, ...options, ...files], { cwd: project }).catch((error) => {
      throw new Error(error.stdout);
    });
  };

  /** What the compiled example prints. */
  const output = async (name: string): Promise<unknown> =>
    JSON.parse((await run(process.execPath, [`${name}.js`], { cwd: project })).stdout);
});
