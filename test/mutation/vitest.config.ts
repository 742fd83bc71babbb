import { defineConfig } from "vitest/config";

/** One test that runs the tests of one mutant after another (fast-runner.mjs). It has no time limit of its own. */
export default defineConfig({
  test: {
    include: ["test/mutation/judge.ts"],
    setupFiles: "test/mutation/fast-check-setup.ts",
    isolate: false,
    testTimeout: 0,
    hookTimeout: 0,
  },
});
