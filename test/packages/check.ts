import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** `npm run verify packages-form`: attw, from the registry, for each package; tarball and import of the core. */
const run = promisify(execFile);
const CORE_TARBALL_BYTES_MAX = 320_000;
const CORE_IMPORT_MILLISECONDS_MAX = 30;

const failures: string[] = [];
const limit = (what: string, actual: number, max: number, unit: string): void => {
  console.log(`${what}: ${actual} ${unit}, at most ${max}`);
  if (actual > max) failures.push(what);
};

const folder = await mkdtemp(join(tmpdir(), "panorama-check-"));
try {
  for (const name of await readdir("dist-packages")) {
    const cwd = resolve("dist-packages", name);
    const { stdout } = await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
      cwd,
    });
    const tarball = join(folder, stdout.trim().split("\n").at(-1) ?? "");
    if (name === "panorama-core") limit("core tarball", (await stat(tarball)).size, CORE_TARBALL_BYTES_MAX, "bytes");
    // The packages are ES modules. Node.js 20.19 and later load them with `require`, too.
    const attw = ["@arethetypeswrong/cli@0.18.5", tarball, "--profile", "esm-only", "--format", "ascii"];
    await run("npx", ["-y", ...attw], { maxBuffer: 1e8 }).then(
      () => console.log(`${name}: attw finds nothing`),
      ({ stdout, stderr }) => {
        failures.push(`${name}: attw`);
        console.log(`${stdout}${stderr}`.slice(-3000));
      },
    );
  }
  const core = resolve("dist-packages/panorama-core/dist");
  const timed = `const start = performance.now(); await import("${core}/domain/tasks/task.js"); console.log(performance.now() - start);`;
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    times.push(Number((await run(process.execPath, ["--input-type=module", "--eval", timed])).stdout));
  }
  limit("import of domain/tasks/task of the core", Math.round(Math.min(...times)), CORE_IMPORT_MILLISECONDS_MAX, "ms");
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (failures.length > 0) throw new Error(`Failed: ${failures.join("; ")}`);
