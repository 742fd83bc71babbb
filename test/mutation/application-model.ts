import { describe, it } from "vitest";
import { memoryStores } from "../../adapters/memory/stores/memory-stores.js";
import { keepsItsInvariants } from "../support/application-model.js";

describe("the application on in-memory stores", () => {
  it("keeps its invariants in 60 random runs", async () => {
    await keepsItsInvariants(async () => ({ ...memoryStores(), close: async () => {} }), { runs: 60 });
  });
});
