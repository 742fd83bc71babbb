import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { PLANTED_FAULTS, type PlantedFault } from "./planted-faults.js";

/*
 * Proves the machines on planted faults: `npm run planted`, with `-- --only 'refund|lease'` for those whose names match.
 * Each fault is put into a copy of the sources, and its command must fail there.
 */

const SOURCES = ["domain", "application", "adapters", "bootstrap", "test", "package.json", "tsconfig.json"];
const TIME_LIMIT_MILLISECONDS = 15 * 60 * 1000;

const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });

const copySources = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "panorama-planted-"));
  for (const name of SOURCES) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
};

/** The file with the fault. Throws if a text does not occur exactly once, because the source has changed since. */
const withFault = (source: string, { name, edits }: PlantedFault): string =>
  edits.reduce((text, [search, replace]) => {
    if (text.split(search).length !== 2) throw new Error(`"${name}" does not fit the sources any more: ${search}`);
    return text.replace(search, () => replace);
  }, source);

/** The first thing that the command has found; `undefined` if it has found nothing. */
const finding = (folder: string, [script, ...args]: PlantedFault["foundBy"]): string | undefined => {
  const run = spawnSync("npm", ["run", "-s", script, "--", ...args], {
    cwd: folder,
    encoding: "utf8",
    timeout: TIME_LIMIT_MILLISECONDS,
  });
  if (run.error !== undefined) return `the command does not end: ${run.error.message}`;
  if (run.status === null) throw new Error(`the command was killed by ${String(run.signal)}`);
  const [, failed] = /^FAILED {2}(.*\n *.*)/m.exec(run.stdout) ?? [];
  return run.status === 0 ? undefined : (failed ?? `the command fails: ${run.stderr.trim().slice(-300)}`);
};

const folder = copySources();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let missed = 0;
for (const fault of PLANTED_FAULTS.filter(({ name }) => new RegExp(options.only).test(name))) {
  const file = join(folder, fault.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, withFault(source, fault));
  const startedAt = performance.now();
  const found = finding(folder, fault.foundBy);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  writeFileSync(file, source);
  if (found === undefined) missed += 1;
  console.log(`${found === undefined ? "MISSED" : "found "}  ${fault.name} (${seconds} s)`);
  console.log(`        npm run ${fault.foundBy.join(" ")}`);
  if (found !== undefined) console.log(`        ${found.replaceAll("\n", "\n    ")}`);
}
console.log(missed === 0 ? "Every planted fault was found." : `${missed} planted faults were missed.`);
process.exitCode = missed === 0 ? 0 : 1;
