import { availableParallelism } from "node:os";
import { Stryker } from "@stryker-mutator/core";

/**
 * `npm run verify mutation -- [FOLDER | FILE]...`: mutation testing of `domain/` and `application/`, or of what is
 * named. Changes the code in one place at a time, and runs the tests of the folder that reach this place: a mutant is
 * killed if one of them fails. Prints each mutant that survives, and exits with 1 if a score is below its minimum.
 */
const MINIMUM_PERCENT = { domain: 98, application: 92 };

process.env.TZ = "Asia/Kathmandu"; // so that a local time is not taken for UTC by luck

const named = process.argv.slice(2).map((path) => path.replace(/\/$/, ""));
const patternOf = (path) => (/\.ts(:|$)/.test(path) ? path : `${path}/**/*.ts`);
const isDetected = ({ status }) => status === "Killed" || status === "Timeout";
const isValid = ({ status }) => isDetected({ status }) || status === "Survived" || status === "NoCoverage";

for (const [folder, minimumPercent] of Object.entries(MINIMUM_PERCENT)) {
  const inside = named.filter((path) => path === folder || path.startsWith(`${folder}/`));
  if (named.length > 0 && inside.length === 0) continue;
  process.env.MUTATED_FOLDER = folder;
  const mutants = await new Stryker({
    mutate: (inside.length === 0 ? [folder] : inside).map(patternOf),
    testRunner: "fast",
    plugins: [`${import.meta.dirname}/fast-runner.mjs`],
    coverageAnalysis: "perTest",
    incremental: true, // mutants whose code and tests have not changed keep their result
    incrementalFile: `reports/mutation/${folder}.json`,
    reporters: ["clear-text", "progress-append-only"],
    clearTextReporter: { logTests: false, reportTests: false, allowEmojis: false },
    thresholds: { high: minimumPercent, low: minimumPercent, break: minimumPercent },
    // Half of the processors, and time enough: on a busy machine, a slow test must not look like an endless loop.
    concurrency: Number(process.env.MUTATION_CONCURRENCY) || Math.max(1, Math.floor(availableParallelism() / 2)),
    timeoutMS: 30_000,
    ignorePatterns: ["dist", "data", "reports"],
    allowConsoleColors: false,
  }).runMutationTest();

  const valid = mutants.filter(isValid);
  const detected = valid.filter(isDetected);
  // These may be endless loops and promises that are never settled, or a machine that stood still.
  const byTime = valid.filter(
    ({ status, statusReason }) => status === "Timeout" || /timed out/.test(statusReason ?? ""),
  );
  console.log(`${folder}: ${valid.length} mutants, ${detected.length} found, ${byTime.length} of them by a timeout:`);
  for (const { fileName, location, replacement, statusReason } of byTime)
    console.log(
      `  ${fileName}:${location.start.line} ${replacement.slice(0, 60)} (${statusReason ?? "test run timed out"})`,
    );
}
