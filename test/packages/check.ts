import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { makePackages } from "../packed/make-packages.js";
import { tarballOf } from "../support/tarball-of.js";

/** `npm run verify packages-form`: attw, from the registry, for each package; tarball and import of the core. */
const run = promisify(execFile);
const CORE_TARBALL_BYTES_MAX = 320_000;
const CORE_IMPORT_MILLISECONDS_MAX = 30;

const failures: string[] = [];
const limit = (what: string, actual: number, max: number, unit: string): void => {
  console.log(`${what}: ${actual} ${unit}, at most ${max}`);
  if (actual > max) failures.push(what);
};

await makePackages();
for (const name of ["panorama-core", "panorama-client", "panorama-service"]) {
  const tarball = await tarballOf(name);
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
if (failures.length > 0) throw new Error(`Failed: ${failures.join("; ")}`);
