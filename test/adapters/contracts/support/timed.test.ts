import { expect, it } from "vitest";
import { timed } from "../../../../adapters/contracts/support/test-functions.js";

it("the tests of a suite get its time limit as third argument, and without one they get none", () => {
  const registered: unknown[][] = [];
  const test = { it: (...args: unknown[]) => void registered.push(args) };
  const run = async () => {};
  timed(test, { timeout: 20_000 }).it("with", run);
  timed(test, {}).it("without", run);
  expect(registered).toEqual([
    ["with", run, 20_000],
    ["without", run],
  ]);
});
