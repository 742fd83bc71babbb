import type { SuiteOptions } from "./suite-options.js";
import type { TestFunctions } from "./test-functions.js";

/** The same functions, with the time limit of the suite for each test. */
export const timed = <Test extends Pick<TestFunctions, "it">>(test: Test, { timeout }: SuiteOptions): Test =>
  timeout === undefined ? test : { ...test, it: (name, run) => test.it(name, run, timeout) };
