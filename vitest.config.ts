import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * `TESTS=slow,fast vitest run` runs these kinds of tests; without `TESTS`, all. A test file `*.KIND.test.ts` is of that
 * kind, others are fast: they need neither PostgreSQL nor a build (`test/test-files.test.ts` finds those that do).
 */
const SUFFIXES = [
  "slow", // start a process, use PostgreSQL, or take more than two seconds; part of `npm test`, which builds first
  // These are not: `npm run verify NAME`, and CI in one run with those of `npm test`.
  "every", // take each of many, one after the other: model of a provider, HTTP server
  "browser", // in Chromium
  "kill", // kill processes of the service at random moments
  "growth", // compare times on large databases
  "packed", // install what is packed, as others do
  "program", // need a program that npm does not bring: Java, Python, nginx
];
const asked = process.env.TESTS?.split(",");
const isAsked = (kind: string): boolean => asked === undefined || asked.includes(kind);
const filesOf = (suffix: string): string => `test/**/*.${suffix}.test.ts`;

const kindOf = ({ moduleId }: TestSpecification): string =>
  SUFFIXES.find((suffix) => moduleId.endsWith(`.${suffix}.test.ts`)) ?? "fast";

/** The built service as processes: its tests wait for most of their time. */
const groupOf = (file: TestSpecification): string => `${kindOf(file)}${file.moduleId.includes("/test/bootstrap/")}`;

/**
 * Spreads each group evenly, so that those that wait run beside those that compute. Half of the fast ones come in the
 * end, so that no long one runs alone then.
 */
class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = (file: TestSpecification): number => {
      const group = sorted.filter((one) => groupOf(one) === groupOf(file));
      const place = group.indexOf(file) / group.length;
      return kindOf(file) === "fast" ? 2 * place : place;
    };
    const ranks = new Map(sorted.map((file) => [file, rankOf(file)]));
    return sorted.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  }
}

export default defineConfig({
  test: {
    pool: "forks",
    // Without isolation, the test files of a worker share the modules they import: this saves 40 % of the CPU time.
    isolate: false,
    // Property tests allocate much, and the workers share two cores: this saves 8 % of the CPU time.
    execArgv: ["--max-semi-space-size=64", "--single-threaded-gc"],
    maxWorkers: 5, // on two cores: tests of processes wait for half of their time
    // A machine with much other work can be ten times as slow. No test waits for one of these times to pass.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: Spread },
    include: isAsked("fast") ? ["test/**/*.test.ts"] : SUFFIXES.filter(isAsked).map(filesOf),
    exclude: SUFFIXES.filter((suffix) => !isAsked(suffix)).map(filesOf),
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/restrict-path.ts"],
  },
});
