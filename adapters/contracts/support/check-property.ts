import { inspect } from "node:util";
import fc from "fast-check";
import type { SuiteOptions } from "./test-functions.js";

type Usual = { readonly numRuns: number; readonly endOnFailure?: boolean };

/** For a property whose runs share a store: after a failure, what it has left there would make shorter input fail. */
export const ON_ONE_STORE = { endOnFailure: true } as const;

/**
 * Tries the property with random input. The message of a failure begins with its cause, and says how to repeat it.
 * Works with fast-check 3 and 4, whose own messages differ: only that of 3 has the cause.
 */
export const checkProperty = async <Input>(
  property: fc.IAsyncProperty<Input>,
  usual: Usual,
  { runs = usual.numRuns, seed, path }: SuiteOptions,
): Promise<void> => {
  const repeated = { ...(seed !== undefined && { seed }), ...(path !== undefined && { path, endOnFailure: true }) };
  const outcome = await fc.check(property, { ...usual, numRuns: runs, ...repeated });
  if (!outcome.failed) return;
  const { errorInstance: cause, counterexample, counterexamplePath } = outcome;
  if (counterexamplePath === null) throw new Error(await fc.asyncDefaultReportMessage(outcome));
  const message = cause instanceof Error ? cause.message : inspect(cause);
  const repeat = `{ seed: ${outcome.seed}, path: "${counterexamplePath}" }`;
  throw new Error(
    `${message}\nThe input: ${fc.stringify(counterexample)}\nTo repeat it, give the suite ${repeat} and run this test only.`,
    { cause },
  );
};
