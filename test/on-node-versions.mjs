import { spawn } from "node:child_process";

/**
 * `npm run verify nodes`: runs the fast tests on each supported major version of
 * Node.js, one after the other. The package `node` of the registry contains the binaries. Arguments replace the
 * versions, or go to vitest after `--`: `npm run verify nodes -- 22 -- test/adapters/http`.
 */
const VERSIONS = ["20", "22", "24"];

const given = process.argv.slice(2);
const dashes = given.includes("--") ? given.indexOf("--") : given.length;
const versions = dashes === 0 ? VERSIONS : given.slice(0, dashes);
const filters = given.slice(dashes + 1);

const vitest = ["node_modules/vitest/vitest.mjs", "run", ...filters];
const env = { ...process.env, TESTS: "fast" };

const passesOn = (version) =>
  new Promise((resolve) => {
    console.log(`Node.js ${version}`);
    const child = spawn("npx", ["-y", `node@${version}`, ...vitest], { stdio: "inherit", env });
    child.on("close", (status) => resolve(status === 0));
  });

const failed = [];
for (const version of versions) if (!(await passesOn(version))) failed.push(version);
console.log(
  failed.length === 0 ? `Passed on Node.js ${versions.join(", ")}.` : `Failed on Node.js ${failed.join(", ")}.`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
