import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

/** What panorama-core depends on. */
const INSTALLED = ["neverthrow", "zod"];

describe("the packed packages in an empty project", () => {
  let project: string;
  let tarball: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-embedding-"));
    tarball = await tarballOf("panorama-core");
    await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
    await install(tarball, project);
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it("are neverthrow and zod beside panorama-core, and none of the packages that only the service needs", async () => {
    const present = (await readdir(join(project, "node_modules"))).filter((name) => !name.startsWith("."));
    expect(present.filter((name) => !name.startsWith("@"))).toEqual(["neverthrow", "panorama-core", "zod"]);
  });

  it("install beside fast-check 3, with the contract suites", async () => {
    const other = await mkdtemp(join(tmpdir(), "panorama-fast-check-3-"));
    await mkdir(join(other, "fast-check"));
    await writeFile(join(other, "fast-check/package.json"), '{ "name": "fast-check", "version": "3.10.0" }');
    await run("npm", ["pack", "--silent", "./fast-check"], { cwd: other });
    const devDependencies = {
      "fast-check": "file:fast-check-3.10.0.tgz",
      "panorama-testing": `file:${await tarballOf("panorama-testing")}`,
    };
    await writeFile(join(other, "package.json"), JSON.stringify({ private: true, devDependencies }));
    await install(tarball, other);
    const modules = (await readdir(join(other, "node_modules"))).filter((name) => !/^[.@]/.test(name));
    expect(modules).toEqual(["fast-check", "neverthrow", "panorama-core", "panorama-testing", "zod"]);
    const { version } = JSON.parse(await readFile(join(other, "node_modules/fast-check/package.json"), "utf8"));
    expect(version).toBe("3.10.0");
    await rm(other, { recursive: true });
  });

  it("compile the examples of the documents", async () => {
    await compile({
      meter: await exampleOf("README.md", "Embedding the library"),
      application: await readFile("test/examples/embedding/application.ts", "utf8"),
      oneUseCase: await readFile("test/examples/embedding/one-use-case.ts", "utf8"),
    });
  });

  it("run the README's example of a meter for another product", async () => {
    const outcomes = ["%PDF", "captured", "not_rendered", "%PDF", "insufficient_credits"];
    expect(await output("meter")).toEqual({ outcomes, credits: 1, entries: 5 });
  });

  it("run the example of the whole application in one call", async () => {
    expect(await output("application")).toEqual({ outcomes: ["succeeded", "failed"], credits: 26 });
  });

  it("run the example of one use case: credits, the concurrency limit, the rate limit", async () => {
    const outcomes = [...Array(5).fill("submitted"), "too_many_active_tasks"];
    expect(await output("oneUseCase")).toEqual({ outcomes, credits: 10, active: 5, admitted: 10 });
  });

  it("can be imported by every public path", async () => {
    const modules = join(project, "node_modules");
    await cp("dist-packages/panorama-service", join(modules, "panorama-service"), { recursive: true });
    const { dependencies } = JSON.parse(await readFile("dist-packages/panorama-service/package.json", "utf8"));
    // The contract suites at their paths of 2.0 find it beside the package.
    for (const name of ["fast-check", ...Object.keys(dependencies)].filter((one) => !INSTALLED.includes(one))) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(process.cwd(), "node_modules", name), join(modules, name));
    }
    const { exports } = JSON.parse(await readFile("dist-packages/panorama-service/package.json", "utf8"));
    const paths = Object.keys(exports).flatMap((path) =>
      path === "./package.json" ? [] : [`panorama-service${path.slice(1)}`],
    );
    expect(paths.length).toBeGreaterThan(200);
    const imports = paths.map((path) => `import ${JSON.stringify(path)};`);
    await compile({ imports: imports.join("\n") });
    await run(process.execPath, ["imports.js"], { cwd: project });
  });

  it.each([
    "panorama-service/wording/invalid-request-sentence",
    "panorama-service/application/wait-up-to-a-second",
    "panorama-service/application/panoramas/create-panorama",
    "panorama-service/adapters/http/servers/listener",
    "panorama-service/dist/domain/task.js",
  ])("cannot be imported by %s, which is not public", async (path) => {
    const importing = ["--input-type=module", "--eval", `await import(${JSON.stringify(path)})`];
    await expect(run(process.execPath, importing, { cwd: project })).rejects.toThrow("ERR_PACKAGE_PATH_NOT_EXPORTED");
  });

  // npm waits five minutes for a registry that is silent, which is the limit of a hook, before it asks again.
  const install = (tarball: string, cwd: string) =>
    run("npm", ["install", "--prefer-offline", "--fetch-timeout=60000", "--no-audit", "--no-fund", tarball], { cwd });

  /** Compiles the sources, by name, as a strict project does. */
  const compile = async (sources: Readonly<Record<string, string>>): Promise<void> => {
    const files = Object.keys(sources).map((name) => `${name}.ts`);
    for (const [name, source] of Object.entries(sources)) await writeFile(join(project, `${name}.ts`), source);
    // Three times as fast as TypeScript 5, with which the test of entries compiles the packages.
    const tsc = join(process.cwd(), "node_modules/typescript-7/bin/tsc");
    const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
    await run(process.execPath, [tsc, ...options, ...files], { cwd: project }).catch((error) => {
      throw new Error(error.stdout);
    });
  };

  /** What the compiled example prints. */
  const output = async (name: string): Promise<unknown> =>
    JSON.parse((await run(process.execPath, [`${name}.js`], { cwd: project })).stdout);
});
