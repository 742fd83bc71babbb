import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.js";
import { freePort } from "../support/free-port.js";
import { tarballOf } from "../support/tarball-of.js";

const run = promisify(execFile);

const PACKAGES = ["panorama-core", "panorama-client", "panorama-service"];

/** The TypeScript example in a section of a document. */
const exampleOf = async (document: string, heading: string): Promise<string> => {
  const example = new RegExp(`^#+ ${heading}$.*?^\`\`\`ts\\n(.*?)^\`\`\`$`, "ms").exec(
    await readFile(document, "utf8"),
  )?.[1];
  if (example === undefined) throw new Error(`${document} has no TypeScript block in "${heading}".`);
  return example;
};

/** The example of the README.md of a package, by the name of the package. */
const exampleIn = async (name: string) => [name, await exampleOf(`packages/${name}/README.md`, name)] as const;

describe("the packed packages in an empty project", () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-embedding-"));
    await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
    await install(await tarballOf("panorama-core"));
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it("install neverthrow and zod beside panorama-core, and no package of the service", async () => {
    expect(await installed()).toEqual(["neverthrow", "panorama-core", "zod"]);
  });

  it("install less than 3 MB for panorama-core, and 200 kB for panorama-client", async () => {
    await install(await tarballOf("panorama-client"));
    expect(await installed()).toEqual(["neverthrow", "panorama-client", "panorama-core", "zod"]);
    expect(await bytesOf("panorama-core")).toBeLessThan(3_000_000);
    expect(await bytesOf("panorama-client")).toBeLessThan(200_000);
  });

  it("install with panorama-service, and compile the examples of the documents", async () => {
    await install(await tarballOf("panorama-service"), "@types/node@20");
    await compile({
      ...Object.fromEntries(await Promise.all(PACKAGES.map(exampleIn))),
      meter: await exampleOf("README.md", "Embedding the library"),
      application: await readFile("test/examples/embedding/application.ts", "utf8"),
      oneUseCase: await readFile("test/examples/embedding/one-use-case.ts", "utf8"),
    });
  });

  it("run the example of panorama-core: a meter for transcriptions", async () => {
    const outcomes = ["transcribed", "captured", "insufficient_credits"];
    expect(await output("panorama-core")).toEqual({ outcomes, balance: 20 });
  });

  it("run the example of panorama-client", async () => {
    const service = await FakeService.start();
    const env = { ...process.env, PANORAMA_BASE_URL: service.origin, PANORAMA_API_KEY: service.apiKey };
    const { stdout } = await run(process.execPath, ["panorama-client.js"], { cwd: project, env });
    expect(stdout).toMatch(/^https?:.*\n$/);
    await service.stop();
  });

  it("run the example of panorama-service, and its command", async () => {
    const env = { ...process.env, PORT: String(await freePort()) };
    const service = spawn(process.execPath, ["panorama-service.js"], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let url = "";
      for await (const line of createInterface(service.stdout)) {
        url = line;
        break;
      }
      expect(await (await fetch(`${url}/abilities`)).json()).toMatchObject({ error: { code: "invalid_api_key" } });
    } finally {
      service.kill();
      await once(service, "exit");
    }
    const { stdout } = await run(join(project, "node_modules/.bin/panorama"), ["--version"]);
    expect(stdout).toContain("3.0.0");
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

  const bytesOf = async (name: string): Promise<number> => {
    const files = await readdir(join(project, "node_modules", name), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    return (await Promise.all(paths.map(async (path) => (await stat(path)).size))).reduce((sum, size) => sum + size, 0);
  };

  /** Compiles the sources, by name, as a strict project does. */
  const compile = async (sources: Readonly<Record<string, string>>): Promise<void> => {
    const files = Object.keys(sources).map((name) => `${name}.ts`);
    for (const [name, source] of Object.entries(sources)) await writeFile(join(project, `${name}.ts`), source);
    // Three times as fast as TypeScript 5, with which the test of entries compiles the packages.
    const tsc = join(process.cwd(), "node_modules/typescript-7/bin/tsc");
    const options = [
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--types",
      "node",
      "--skipLibCheck",
      "--singleThreaded",
    ];
    await run(process.execPath, [tsc, ...options, ...files], { cwd: project }).catch((error) => {
      throw new Error(error.stdout);
    });
  };

  /** What the compiled example prints. */
  const output = async (name: string): Promise<unknown> =>
    JSON.parse((await run(process.execPath, [`${name}.js`], { cwd: project })).stdout);
});
