import { expect, it } from "vitest";
import { staysRightWhateverHappens } from "../support/application-model.js";
import { memoryStores } from "../support/world.js";

it("keeps its books, its limits and its word, whatever happens in whatever order", async () => {
  const seen = await staysRightWhateverHappens(async () => ({ ...memoryStores(), close: async () => {} }), {
    runs: 400,
  });
  console.log([...seen]);
  expect(seen.size).toBeGreaterThan(0);
}, 60_000);
