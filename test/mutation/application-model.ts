import { describe, it } from "vitest";
import { memoryDatabase } from "../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../adapters/persistence/sql-stores.js";
import { keepsItsInvariants } from "../support/application-model.js";

describe("the application on SQLite in memory", () => {
  it("keeps its invariants in 60 random runs", async () => {
    await keepsItsInvariants(async () => ({ ...sqlStores(memoryDatabase()), close: async () => {} }), { runs: 60 });
  });
});
