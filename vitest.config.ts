import { defineConfig } from "vitest/config";

/**
 * `TESTS=slow,fast vitest run` runs these kinds of tests; without `TESTS`, all. A test file `*.KIND.test.ts` is of that
 * kind, others are fast: they need neither PostgreSQL nor a build (`test/test-files.test.ts` finds those that do).
 */
const SUFFIXES = [
  "slow", // start a process, use PostgreSQL, or take more than two seconds; part of `npm test`, which builds first
  // CI runs these with them in one run, and `npm run verify` one kind.
  "long", // kill processes at random moments, compare times, or take each of many
  "program", // need what Node.js does not bring: a browser, Java, Python, nginx, packages from the registry
];
const asked = process.env.TESTS?.split(",");
const isAsked = (kind: string): boolean => asked === undefined || asked.includes(kind);
const filesOf = (suffix: string): string => `test/**/*.${suffix}.test.ts`;

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
    include: isAsked("fast") ? ["test/**/*.test.ts"] : SUFFIXES.filter(isAsked).map(filesOf),
    exclude: SUFFIXES.filter((suffix) => !isAsked(suffix)).map(filesOf),
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/restrict-path.ts"],
  },
});
