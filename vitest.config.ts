import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The projects beside "fast". `vitest run --project NAME` runs the test files `*.NAME.test.ts`. */
const KINDS: Readonly<Record<string, TestProjectConfiguration["test"]>> = {
  // Start a process, use PostgreSQL, or take more than two seconds. They are part of `npm test`, which builds first.
  slow: { globalSetup: "test/support/global-setup.ts" },
  // All others are not: `npm run verify NAME`, and CI in one run with those of `npm test`.
  browser: {}, // in Chromium
  kill: {}, // kill processes of the service at random moments
  growth: { globalSetup: "test/support/global-setup.ts" }, // compare times on large databases
  packed: { globalSetup: "test/packed/global-setup.ts" }, // install what is packed, as others do
};
const filesOf = (kind: string): string => `test/**/*.${kind}.test.ts`;
const kinds: TestProjectConfiguration[] = Object.entries(KINDS).map(([name, options]) => ({
  extends: true,
  test: { ...options, name, include: [filesOf(name)] },
}));

/** Need neither PostgreSQL nor a build: `npm run test:fast`. `test/test-files.test.ts` finds those that do. */
const FAST = { include: ["test/**/*.test.ts"], exclude: Object.keys(KINDS).map(filesOf) };

const ON_NODE_NAME = "node-http";
/**
 * The fast tests of the HTTP server run on both servers. `HTTP_SERVER=node npm test` runs all others on `node:http`.
 */
const ON_NODE: TestProjectConfiguration = {
  extends: true,
  test: {
    ...FAST,
    name: ON_NODE_NAME,
    isolate: false,
    include: ["test/adapters/http/**/*.test.ts"],
    env: { HTTP_SERVER: "node" },
  },
};

/** The specification of the REST interface also for the handler of the Fetch standard. */
const ON_FETCH: TestProjectConfiguration = {
  extends: true,
  test: {
    ...FAST,
    name: "fetch-http",
    isolate: false,
    include: ["test/adapters/http/specification.*.test.ts"],
    env: { HTTP_SERVER: "fetch" },
  },
};

/** Those that wait for processes come first, and the short ones in the end, so that none runs alone then. */
const ORDER = ["browser", "kill", "growth", "packed", "slow", "fast", "fetch-http", ON_NODE_NAME];
/** The longest of their project: they start processes, or are thousands of runs. */
const isLong = (path: string): boolean =>
  path.includes("/test/bootstrap/") || path.endsWith("/test/application/model.test.ts");

/** One project after the other, because a worker that changes its project starts anew and imports everything again. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) =>
      2 * ORDER.indexOf(project.name) + (isLong(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    pool: "forks",
    // Without isolation, the test files of a worker share the modules they import: this saves 40 % of the CPU time.
    isolate: false,
    maxWorkers: 4, // on two cores: tests of processes wait for half of their time
    // A machine with much other work can be ten times as slow. No test waits for one of these times to pass.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { ...FAST, name: "fast" } },
      ...kinds,
      ...(process.env.HTTP_SERVER === "node" ? [] : [ON_NODE, ON_FETCH]),
    ],
  },
});
