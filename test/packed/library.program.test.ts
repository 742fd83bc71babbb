import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.js";
import { freePort } from "../support/free-port.js";
import { PackedProject } from "../support/packed-project.js";
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
const exampleIn = async (name: string) =>
  [name, await exampleOf(`bootstrap/packages/${name}/README.md`, name)] as const;

describe("the packed packages in an empty project", () => {
  let project: PackedProject;

  beforeAll(async () => {
    project = await PackedProject.empty();
    await install(await tarballOf("panorama-core"));
  });
  afterAll(() => project.remove());

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
    const sources = {
      ...Object.fromEntries(await Promise.all(PACKAGES.map(exampleIn))),
      meter: await exampleOf("README.md", "Embedding the library"),
      application: await readFile("test/examples/embedding/application.ts", "utf8"),
      oneUseCase: await readFile("test/examples/embedding/one-use-case.ts", "utf8"),
    };
    const files = Object.keys(sources).map((name) => `${name}.ts`);
    for (const [name, source] of Object.entries(sources)) await writeFile(join(project.folder, `${name}.ts`), source);
    await project.compileOwn(files);
  });

  it("run the example of panorama-core: a meter for transcriptions", async () => {
    const outcomes = ["transcribed", "captured", "insufficient_credits"];
    expect(await project.output("panorama-core.js")).toEqual({ outcomes, balance: 20 });
  });

  it("run the example of panorama-client", async () => {
    const service = await FakeService.start();
    const env = { ...process.env, PANORAMA_BASE_URL: service.origin, PANORAMA_API_KEY: service.apiKey };
    const { stdout } = await run(process.execPath, ["panorama-client.js"], { cwd: project.folder, env });
    expect(stdout).toMatch(/^https?:.*\n$/);
    await service.stop();
  });

  it("run the example of panorama-service, and its command", async () => {
    const env = { ...process.env, PORT: String(await freePort()) };
    const { child, line: url } = await project.start("panorama-service.js", env);
    expect(await (await fetch(`${url}/abilities`)).json()).toMatchObject({ error: { code: "invalid_api_key" } });
    child.kill();
    await once(child, "exit");
    const { stdout } = await run(join(project.folder, "node_modules/.bin/panorama"), ["--version"]);
    expect(stdout).toContain("3.0.0");
  });

  it("run the README's example of a meter for another product", async () => {
    expect(await project.output("meter.js")).toEqual({ credits: 4 });
  });

  it("run the example of the whole application in one call", async () => {
    expect(await project.output("application.js")).toEqual({ outcomes: ["succeeded", "failed"], credits: 26 });
  });

  it("run the example of one use case: credits, the concurrency limit, the rate limit", async () => {
    const outcomes = [...Array(5).fill("submitted"), "too_many_active_tasks"];
    expect(await project.output("oneUseCase.js")).toEqual({ outcomes, credits: 10, active: 5, admitted: 10 });
  });

  // npm waits five minutes for a registry that is silent, which is the limit of a hook, before it asks again.
  const install = (...args: readonly string[]) => {
    const options = ["--prefer-offline", "--fetch-timeout=60000", "--no-audit", "--no-fund"];
    return run("npm", ["install", ...options, ...args], { cwd: project.folder });
  };

  /** Without what is not for every system. */
  const installed = async (): Promise<readonly string[]> =>
    (await readdir(join(project.folder, "node_modules"))).filter((name) => !/^[.@]/.test(name));

  const bytesOf = async (name: string): Promise<number> => {
    const files = await readdir(join(project.folder, "node_modules", name), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    return (await Promise.all(paths.map(async (path) => (await stat(path)).size))).reduce((sum, size) => sum + size, 0);
  };
});
