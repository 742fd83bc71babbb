import { describe, it } from "vitest";
import { keepsItsInvariants } from "../support/application-model.js";
import { memoryStores } from "../support/memory/memory-stores.js";

describe("the application on in-memory stores", () => {
  it("keeps its invariants in 60 random runs", async () => {
    await keepsItsInvariants(async () => ({ ...memoryStores(), close: async () => {} }), { runs: 60 });
  });
});
