import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { unpackTarball } from "./tarball-of.js";

const run = promisify(execFile);

/** A strict project of somebody else. Threads would check the same types several times. */
const STRICT = [
  "--singleThreaded",
  ...["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noImplicitReturns"],
  ...["--module", "nodenext", "--target", "es2022", "--types", "node"],
];

/** What would hide from the compiler that types do not fit. */
const CAST = /\bas (?!const\b)[\w{(]|\w!\.|: any\b|<any\b|@ts-/;

/**
 * A project of somebody else in a temporary folder, with packages of `dist-packages/` as their tarballs have them.
 * What they depend on, and `others`, are links to the packages of this project, so that no registry is needed.
 */
export class PackedProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Without any package. */
  static async empty(): Promise<PackedProject> {
    const project = new PackedProject(await mkdtemp(join(tmpdir(), "panorama-project-")));
    await writeFile(join(project.folder, "package.json"), '{ "private": true, "type": "module" }');
    return project;
  }

  static async with(packages: readonly string[], others: readonly string[]): Promise<PackedProject> {
    const project = await PackedProject.empty();
    await mkdir(join(project.folder, "node_modules"));
    const needed = new Set(others);
    for (const name of packages) for (const dependency of await project.#unpack(name)) needed.add(dependency);
    for (const name of packages) needed.delete(name);
    for (const name of needed) {
      const link = join(project.folder, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(resolve("node_modules", name), link);
    }
    return project;
  }

  /** Unpacks a package, and returns what it depends on. */
  async #unpack(name: string): Promise<readonly string[]> {
    const folder = await unpackTarball(name, join(this.folder, "node_modules"));
    const { dependencies = {} } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return Object.keys(dependencies);
  }

  /**
   * Copies these sources into the project, and compiles them strictly. Throws what the compiler says, and if a source
   * has a cast. Without other options, it does not check the declarations of packages, which takes longest.
   */
  async compile(sources: readonly string[], options = ["--skipLibCheck"]): Promise<void> {
    for (const source of sources) {
      const code = (await readFile(source, "utf8")).replaceAll(/\/\/.*|^import .*/gm, "");
      const [cast] = CAST.exec(code) ?? [];
      if (cast !== undefined) throw new Error(`${source} has a cast: ${cast}`);
      await cp(source, join(this.folder, basename(source)));
    }
    await this.compileOwn(
      sources.map((source) => basename(source)),
      options,
    );
  }

  /** Compiles files of the project strictly. Throws what the compiler says. */
  async compileOwn(files: readonly string[], options = ["--skipLibCheck"]): Promise<void> {
    // Three times as fast as TypeScript 5, with which the test of entries compiles the packages.
    const tsc = resolve("node_modules/typescript-7/bin/tsc");
    await run(process.execPath, [tsc, ...STRICT, ...options, ...files], { cwd: this.folder }).catch((error) => {
      throw new Error(error.stdout);
    });
  }

  /** What a compiled program prints, which is JSON. */
  async output(program: string, env: NodeJS.ProcessEnv = process.env): Promise<unknown> {
    return JSON.parse((await run(process.execPath, [program], { cwd: this.folder, env })).stdout);
  }

  /** Starts a compiled program, and waits for its first line. */
  async start(
    program: string,
    env: NodeJS.ProcessEnv,
  ): Promise<{ readonly child: ChildProcess; readonly line: string }> {
    const child = spawn(process.execPath, [program], { cwd: this.folder, env, stdio: "pipe" });
    let errors = "";
    child.stderr.on("data", (text) => (errors += text));
    for await (const line of createInterface(child.stdout)) return { child, line };
    throw new Error(`${program} has not started: ${errors}`);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
