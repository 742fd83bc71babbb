import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TESTS = "test/**/*.test.ts";

/** Tests that kill processes of the service at random moments: `npm run test:kills`. They are not part of `npm test`. */
const KILLS = "test/kills/*.test.ts";

/** Tests in Chromium: `npm run test:browser`. They are not part of `npm test`. */
const BROWSER = [
  "test/adapters/client/browser-page.test.ts",
  "test/adapters/web/accessibility.test.ts",
  "test/adapters/web/account.test.ts",
  "test/adapters/web/defects.test.ts",
  "test/adapters/web/landing.test.ts",
  "test/adapters/web/docs.test.ts",
  "test/adapters/web/viewer.test.ts",
  "test/adapters/web/viewer-sharing.test.ts",
  "test/adapters/web/walk.test.ts",
  "test/adapters/web/works.test.ts",
  "test/adapters/web/studio.test.ts",
  "test/adapters/web/webhooks.test.ts",
];

/** Compares times, on databases with the history of years: `npm run test:growth`. It is not part of `npm test`. */
const GROWTH = "test/growth/*.test.ts";

/** Tests that install what is packed, as others do: `npm run test:packed`. They are not part of `npm test`. */
const PACKED = "test/packed/*.test.ts";

/**
 * Tests that take long or need more than Node.js. All others are the project "fast", which needs neither PostgreSQL nor a
 * build: `npm run test:fast`. A new test file belongs here if it starts a process or a browser, uses PostgreSQL, or takes
 * more than two seconds.
 */
const SLOW_TESTS = [
  // start the compiled service or its package: they need `npm run build`
  "test/bootstrap/*.test.ts",
  "test/adapters/observability/dashboard.test.ts",
  "test/adapters/observability/tracing.test.ts",
  // start other processes, or the TypeScript compiler
  "test/architecture.test.ts",
  "test/public-surface.test.ts",
  "test/adapters/http/openapi.test.ts",
  "test/adapters/persistence/sqlite-database.test.ts",
  "test/adapters/provider/remote/http/worker.test.ts",
  "test/adapters/storage/killed-write.test.ts",
  // use PostgreSQL
  "test/adapters/persistence/migrations.test.ts",
  "test/adapters/persistence/application-on-databases.test.ts",
  "test/adapters/persistence/application-clocks.test.ts",
  "test/adapters/persistence/postgres-*.test.ts",
  // commits hundreds of times to a SQLite file
  "test/adapters/persistence/sql-meter-store.test.ts",
  // runs the suites of all stores once more
  "test/adapters/persistence/sqlite-embedded.test.ts",
  // runs a hundred cases with faults on a database
  "test/faults/sample.test.ts",
  // simulates thousands of runs
  "test/simulation/simulation.test.ts",
  // runs the examples of the guides
  "test/adapters/web/docs-examples.test.ts",
  // simulates minutes with hundreds of webhooks
  "test/application/webhooks/slow-receivers.test.ts",
  // process large images or hash many passwords
  "test/adapters/imaging/sharp-imaging.test.ts",
  "test/adapters/provider/local/*.test.ts",
  "test/adapters/provider/remote/whole-application.test.ts",
  "test/adapters/system/node-secrets.test.ts",
  "test/adapters/web/login.test.ts",
  "test/adapters/web/password.test.ts",
  "test/adapters/web/sign-up.test.ts",
  // wait for timeouts, or send thousands of requests
  "test/adapters/http/authorization.test.ts",
  "test/adapters/http/hostile-clients.test.ts",
  "test/adapters/mail/smtp-mail.test.ts",
  "test/adapters/storage/gcs-object-storage.test.ts",
  "test/adapters/storage/s3-object-storage.test.ts",
];

/** Test files of the HTTP server, which run on both servers. `HTTP_SERVER=node npm test` runs all others on `node:http`. */
const HTTP_TESTS = "test/adapters/http/*.test.ts";
const WITHOUT_SERVER = [
  "byte-range",
  "client-address",
  "load-server",
  "node-server",
  "rest-routes",
  "router",
  "tls-certificate",
  "traceparent",
].map((name) => `test/adapters/http/${name}.test.ts`);
const onNode: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "node-http",
    isolate: false,
    include: [HTTP_TESTS],
    exclude: [...SLOW_TESTS, ...WITHOUT_SERVER],
    env: { HTTP_SERVER: "node" },
  },
};

/** Starts the longest test files first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (moduleId.includes("/test/bootstrap/")) return 0;
      return project.name === "slow" || moduleId.endsWith("/test/application/model.test.ts") ? 1 : 2;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    pool: "forks",
    // Without isolation, the test files of a worker share the modules they import: this saves 40 % of the CPU time.
    isolate: false,
    maxWorkers: 3, // on two cores: tests of processes wait for a third of their time
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } }, // without a graphics card, a browser can take a second to draw one frame
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: "fast", include: [TESTS], exclude: [...SLOW_TESTS, ...BROWSER, KILLS, GROWTH, PACKED] },
      },
      { extends: true, test: { name: "slow", include: SLOW_TESTS, globalSetup: "test/support/global-setup.ts" } },
      { extends: true, test: { name: "browser", include: BROWSER } },
      { extends: true, test: { name: "kills", include: [KILLS] } },
      {
        extends: true,
        test: { name: "growth", include: [GROWTH], globalSetup: "test/support/global-setup.ts", hookTimeout: 300_000 },
      },
      { extends: true, test: { name: "packed", include: [PACKED] } },
      ...(process.env.HTTP_SERVER === "node" ? [] : [onNode]),
    ],
  },
});
