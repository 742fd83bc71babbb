import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { EQUIVALENT, equivalentOf } from "./equivalent-mutants.mjs";

/**
 * `npm run verify mutation -- [FOLDER | FILE]...`: mutation testing of `domain/` and `application/`, or of what is
 * named. Changes the code in one place at a time, and runs the tests of the folder that reach this place: a mutant is
 * found if one of them fails. What the tests of `domain/` do not find is tried with those of `application/`, which call
 * it. Prints each mutant that survives, and exits with 1 if a score is below its minimum.
 */
const MINIMUM_PERCENT = { domain: 98, application: 92 };

process.env.TZ = "Asia/Kathmandu"; // so that a local time is not taken for UTC by luck

const named = process.argv.slice(2).map((path) => path.replace(/\/$/, ""));
const patternOf = (path) => (/\.ts(:|$)/.test(path) ? path : `${path}/**/*.ts`);
const isDetected = ({ status }) => status === "Killed" || status === "Timeout";
const isValid = ({ status }) => isDetected({ status }) || status === "Survived" || status === "NoCoverage";
const nameOf = ({ fileName, location, replacement }) =>
  `${relative("", fileName)}:${location.start.line}:${location.start.column} ${replacement}`;
const lineOf = (mutant) => nameOf(mutant).replace(/\s+/g, " ").slice(0, 140);
const rangeOf = ({ fileName, location: { start, end } }) =>
  `${relative("", fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const met = new Set();
const read = new Set();

/** Equivalent mutants are not judged. */
const isEquivalent = ({ fileName, mutatorName, location }) => {
  const file = relative("", fileName);
  read.add(file);
  const line = readFileSync(fileName, "utf8").split("\n")[location.start.line - 1];
  const entry = equivalentOf({ file, mutator: mutatorName, line });
  if (entry !== undefined) met.add(entry);
  return entry !== undefined;
};

/** Judges the mutants by the tests of a folder of `test/`. */
const judge = async (mutate, testFolder) => {
  process.env.MUTATION_TESTS = testFolder;
  const mutants = await new Stryker({
    mutate,
    testRunner: "fast",
    plugins: [`${import.meta.dirname}/fast-runner.mjs`],
    coverageAnalysis: "perTest",
    reporters: ["progress-append-only"],
    thresholds: { high: 100, low: 0, break: null },
    // Half of the processors, and time enough: on a busy machine, a slow test must not look like an endless loop.
    concurrency: Number(process.env.MUTATION_CONCURRENCY) || Math.max(1, Math.floor(availableParallelism() / 2)),
    timeoutMS: 30_000,
    ignorePatterns: ["dist", "data", "reports"],
    allowConsoleColors: false,
  }).runMutationTest();
  return mutants.filter((mutant) => isValid(mutant) && !isEquivalent(mutant));
};

for (const [folder, minimumPercent] of Object.entries(MINIMUM_PERCENT)) {
  const inside = named.filter((path) => path === folder || path.startsWith(`${folder}/`));
  if (named.length > 0 && inside.length === 0) continue;
  const all = await judge((inside.length === 0 ? [folder] : inside).map(patternOf), folder);
  let missed = all.filter((mutant) => !isDetected(mutant));
  let found = all.filter(isDetected);
  if (folder === "domain" && missed.length > 0) {
    const names = new Set(missed.map(nameOf));
    const again = await judge(missed.map(rangeOf), "application");
    const foundNow = again.filter((mutant) => isDetected(mutant) && names.has(nameOf(mutant)));
    const namesFound = new Set(foundNow.map(nameOf));
    missed = missed.filter((mutant) => !namesFound.has(nameOf(mutant)));
    found = [...found, ...foundNow];
  }

  for (const mutant of missed) console.log(`${mutant.status}: ${lineOf(mutant)}`);
  // These may be endless loops and promises that are never settled, or a machine that stood still.
  const byTime = found.filter(
    ({ status, statusReason }) => status === "Timeout" || /timed out/.test(statusReason ?? ""),
  );
  for (const mutant of byTime)
    console.log(`By a timeout: ${lineOf(mutant)} (${mutant.statusReason ?? "test run timed out"})`);
  const percent = (100 * found.length) / all.length;
  const notReached = missed.filter(({ status }) => status === "NoCoverage").length;
  console.log(
    `${folder}: ${all.length} mutants, ${found.length} found, ${byTime.length} of them by a timeout, ` +
      `${missed.length - notReached} survived, ${notReached} not reached by a test: ${percent.toFixed(1)} %`,
  );
  if (percent < minimumPercent) process.exitCode = 1;
}

for (const entry of EQUIVALENT) {
  if (!read.has(entry.file) || met.has(entry)) continue;
  console.log(`equivalent-mutants.mjs: no mutant of ${entry.file} is of ${JSON.stringify(entry.line)}`);
  process.exitCode = 1;
}
