/**
 * The functions of the test runner that a contract suite registers its tests with. `vitest` and `node:test` export all
 * of them: `import { afterEach, beforeEach, describe, it } from "node:test"`.
 */
export type TestFunctions = {
  /** Groups the tests that `register` registers. */
  readonly describe: (name: string, register: () => void) => void;
  /** Registers a test. It fails if `run` throws or its promise rejects. */
  readonly it: (name: string, run: () => Promise<void>, timeoutMilliseconds?: number) => void;
  /** Registers what runs before each test of the group. */
  readonly beforeEach: (run: () => Promise<void>) => void;
  /** Registers what runs after each test of the group. */
  readonly afterEach: (run: () => Promise<void>) => void;
};
