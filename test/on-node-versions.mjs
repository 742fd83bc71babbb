import { spawn } from "node:child_process";

/**
 * The fast tests on the newer major versions of Node.js, and those of the MCP server: they start the service and
 * generate with it. The package `node` of the registry contains the binaries. All at the same time; prints the output
 * of each when it ends. Arguments replace the versions, or go to vitest after `--`: `npm run verify nodes -- 22 --
 * test/adapters/http`.
 */
const VERSIONS = ["22", "24"];
const RUNS = [
  ["fast", []],
  ["slow", ["test/bootstrap/mcp.slow.test.ts"]],
];

const given = process.argv.slice(2);
const dashes = given.includes("--") ? given.indexOf("--") : given.length;
const versions = dashes === 0 ? VERSIONS : given.slice(0, dashes);
const filters = given.slice(dashes + 1);

const runOn = (version, args, env) =>
  new Promise((resolve) => {
    const output = [];
    const child = spawn("npx", ["-y", `node@${version}`, ...args], { env: { ...process.env, ...env } });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(output));
      resolve(status === 0);
    });
  });

const passesOn = async (version) => {
  let hasPassed = await runOn(version, ["--version"], {}); // installs it once
  for (const [TESTS, files] of RUNS) {
    const args = ["node_modules/vitest/vitest.mjs", "run", ...(filters.length > 0 ? filters : files)];
    // Each version gets half of the processors.
    hasPassed = (await runOn(version, [...args, "--passWithNoTests"], { TESTS, VITEST_MAX_WORKERS: "2" })) && hasPassed;
  }
  if (!hasPassed) console.error(`Failed on Node.js ${version}.`);
  return hasPassed;
};

const passed = await Promise.all(versions.map(passesOn));
process.exitCode = passed.every(Boolean) ? 0 : 1;
