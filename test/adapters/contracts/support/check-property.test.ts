import fc from "fast-check";
import { expect, it } from "vitest";
import { checkProperty } from "../../../../adapters/contracts/support/check-property.js";

/** Fails for every number from 10 on. Keeps what it was tried with. */
const belowTen = (tried: number[]) =>
  fc.asyncProperty(fc.nat(1000), async (n) => {
    tried.push(n);
    if (n >= 10) throw new Error(`${n} is too high`);
  });

const messageOf = (checked: Promise<void>): Promise<string> =>
  checked.then(
    () => "passed",
    (error: Error) => error.message,
  );

it("checkProperty reports the cause, the shortest input, and a command that repeats this input", async () => {
  const message = await messageOf(checkProperty(belowTen([]), { numRuns: 100 }, { seed: 42 }));
  const [, path = ""] = /path: "([\d:]+)"/.exec(message) ?? [];
  expect(message).toBe(
    `10 is too high\nThe input: [10]\nTo repeat it, give the suite { seed: 42, path: "${path}" } and run this test only.`,
  );
  const tried: number[] = [];
  expect(await messageOf(checkProperty(belowTen(tried), { numRuns: 100 }, { seed: 42, path }))).toContain("[10]");
  expect(tried).toEqual([10]);
});

it("checkProperty tries the number of inputs of the options, by default of the suite", async () => {
  const runs = async (options: { readonly runs?: number }): Promise<number> => {
    let count = 0;
    const property = fc.asyncProperty(fc.nat(), async () => {
      count += 1;
    });
    await checkProperty(property, { numRuns: 3 }, options);
    return count;
  };
  expect([await runs({}), await runs({ runs: 5 })]).toEqual([3, 5]);
});

it("checkProperty prints thrown values that are not Errors", async () => {
  const property = fc.asyncProperty(fc.nat(), async () => {
    throw { kind: "not_found" };
  });
  expect(await messageOf(checkProperty(property, { numRuns: 1 }, {}))).toMatch(/^\{ kind: 'not_found' \}\n/);
});
