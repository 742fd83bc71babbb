/** How a contract suite tries random input, and how long a test of it may take. */
export type SuiteOptions = {
  /** How many random inputs each property gets. Default: enough to find the usual errors within seconds. */
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
