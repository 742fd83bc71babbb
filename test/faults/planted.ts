import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { type Command, PLANTED_FAULTS, type PlantedFault } from "./planted-faults.js";

/*
 * Proves the machines on planted faults: `npm run verify planted`, with `-- --only 'refund|lease'` for those whose
 * names match. Each fault is put into a copy of the sources. Its command must find something there that is not found
 * without the fault.
 */

const SOURCES = [
  "domain",
  "application",
  "adapters",
  "bootstrap",
  "test",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "vitest.config.ts",
  "LICENSE",
];
const TIME_LIMIT_MILLISECONDS = 30 * 60 * 1000;
const FOUND = "found ";
const MISSED = "MISSED";

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

type Run = { readonly passed: boolean; readonly output: string };

/** Runs a verification or a test file in the folder. A command that does not end has not passed. */
const run = (folder: string, command: Command): Run => {
  const [name, ...options] = command;
  const words =
    name === "tests" ? ["npx", "vitest", "run", ...options] : ["npm", "run", "-s", "verify", "--", ...command];
  const [program = "", ...args] = words;
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: TIME_LIMIT_MILLISECONDS,
  });
  return { passed: status === 0, output: `${stdout}\n${stderr}\n${error === undefined ? "" : error.message}` };
};

type Finding = { readonly what: string; readonly repeat: Command };

/** The first thing that a command has found, and the command that repeats it. */
const findingIn = (output: string, [kind, ...files]: Command): Finding | undefined => {
  const [, failedTest] = /^ *FAIL +(.* > .*)/m.exec(stripVTControlCharacters(output)) ?? [];
  if (kind === "tests") return failedTest === undefined ? undefined : { what: failedTest, repeat: [kind, ...files] };
  const [, name, what] = /^FAILED {2}(.*)\n *(.*)/m.exec(output) ?? [];
  return name === undefined ? undefined : { what: `${name}: ${what}`, repeat: ["faults", "--case", name] };
};

/**
 * Puts the fault in, and returns what its command says: a fault is found if the command finds something only with it.
 */
const plant = (folder: string, fault: PlantedFault): { readonly verdict: string; readonly details: string } => {
  const file = join(folder, fault.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, withFault(source, fault));
  const { passed, output } = run(folder, fault.foundBy);
  writeFileSync(file, source);
  if (passed) return { verdict: MISSED, details: "the command passes" };
  const found = findingIn(output, fault.foundBy);
  if (found === undefined)
    return { verdict: MISSED, details: `the command fails otherwise: ${output.trim().slice(-500)}` };
  const without = run(folder, found.repeat);
  if (!without.passed) return { verdict: MISSED, details: `it fails without the fault, too: ${found.what}` };
  return { verdict: FOUND, details: found.what };
};

const folder = copySources();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let missed = 0;
for (const fault of PLANTED_FAULTS.filter(({ name }) => new RegExp(options.only).test(name))) {
  const startedAt = performance.now();
  const { verdict, details } = plant(folder, fault);
  if (verdict === MISSED) missed += 1;
  console.log(`${verdict}  ${fault.name} (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`);
  const [name, ...args] = fault.foundBy;
  console.log(`        ${name === "tests" ? "npx vitest run" : `npm run verify ${name} --`} ${args.join(" ")}`);
  console.log(`        ${details}`);
}
console.log(missed === 0 ? "Every planted fault was found." : `${missed} planted faults were missed.`);
process.exitCode = missed === 0 ? 0 : 1;
