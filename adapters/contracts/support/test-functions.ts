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

/** Number of random inputs of a contract suite, and the time limit of its tests. */
export type SuiteOptions = {
  /** Number of random inputs of each property. Default: enough to find the usual errors within seconds. */
  readonly runs?: number | undefined;
  /** The number in the message of a failure: the same inputs again. Default: others in each run. */
  readonly seed?: number | undefined;
  /** From the same message, together with `seed`: the failing input alone. Run only the test that has failed. */
  readonly path?: string | undefined;
  /**
   * Milliseconds that a test may take, passed to `it` as its third argument, which Vitest and Jest use. `node:test` has
   * no limit.
   */
  readonly timeout?: number | undefined;
};

/** The test functions with the time limit of the suite. */
export const timed = <Test extends Pick<TestFunctions, "it">>(test: Test, { timeout }: SuiteOptions): Test =>
  timeout === undefined ? test : { ...test, it: (name, run) => test.it(name, run, timeout) };
