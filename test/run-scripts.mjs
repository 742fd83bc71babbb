import { spawn } from "node:child_process";

/**
 * `node test/run-scripts.mjs SCRIPT...`: runs scripts of package.json at the same time. Prints the output of each script
 * when it ends, and exits with 1 if any of them failed.
 */
const run = (script) =>
  new Promise((resolve) => {
    const child = spawn(`npm run -s ${script}`, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(output));
      if (status !== 0) console.error(`npm run ${script} failed.`);
      resolve(status === 0);
    });
  });

const succeeded = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = succeeded.every(Boolean) ? 0 : 1;
