import { spawn } from "node:child_process";

/** Three times as fast as TypeScript 5, which is there for its API: it reads declarations, and other tools need it. */
const TYPESCRIPT_7 = "node node_modules/typescript-7/bin/tsc";

/**
 * `npm run check`, and `npm run check style` for one of them: the checks that read the sources, at the same time.
 * Prints the output of each when it ends, and exits with 1 if any of them failed. `npm test` runs the tests beside
 * some of them: they print as they run, and get what follows: `npm test -- test/domain`.
 */
const CHECKS = {
  types: `${TYPESCRIPT_7} --noEmit --checkers 1 && ${TYPESCRIPT_7} -p adapters/web/client`,
  style: "biome ci .",
  layers: "depcruise domain application adapters bootstrap test --config",
  build: "node bootstrap/packages/build/build.mjs --if-changed",
  tests: "vitest run",
};

const given = process.argv.slice(2);
const asked = given.includes("tests") ? given.slice(0, given.indexOf("tests") + 1) : given;
CHECKS.tests += given
  .slice(asked.length)
  .map((option) => ` ${JSON.stringify(option)}`)
  .join("");

const run = (name) =>
  new Promise((resolve) => {
    const stdio = name === "tests" ? "inherit" : ["ignore", "pipe", "pipe"];
    const child = spawn(CHECKS[name], { shell: true, stdio });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk));
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(output));
      if (status !== 0) console.error(`The check "${name}" failed.`);
      resolve(status === 0);
    });
  });

const unknown = asked.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(", ")}. There are: ${Object.keys(CHECKS).join(", ")}.`);
  process.exit(1);
}
const succeeded = await Promise.all((asked.length === 0 ? ["types", "style", "layers"] : asked).map(run));
process.exitCode = succeeded.every(Boolean) ? 0 : 1;
