import { describe, it } from "vitest";
import { keepsItsInvariants } from "../../support/application-model.js";
import { createsFiftyConcurrently } from "../../support/fifty-creations.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";
import { sqliteStores } from "../../support/sqlite-stores.js";
import { aWorld } from "../../support/world.js";

describe("the application on SQLite", () => {
  it("keeps ledger, limits and promises through 20 random runs", async () => {
    await keepsItsInvariants(sqliteStores, { runs: 20 });
  }, 180_000);
});

describe("the application on PostgreSQL", () => {
  it("keeps ledger, limits and promises through 25 random runs with concurrent connections", async () => {
    const url = await freshDatabase();
    await keepsItsInvariants(() => postgresStores(url), { runs: 25 });
  }, 180_000);
});

describe.each([
  ["SQLite", sqliteStores],
  ["PostgreSQL", async () => postgresStores(await freshDatabase())],
])("the application on %s", (_, open) => {
  it("admits five of fifty concurrent creations", async () => {
    const stores = await open();
    await createsFiftyConcurrently(aWorld(stores));
    await stores.close();
  });
});
