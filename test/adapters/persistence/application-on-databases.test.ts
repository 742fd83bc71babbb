import { describe, it } from "vitest";
import { staysRightWhateverHappens } from "../../support/application-model.js";
import { createsFiftyAtOnce } from "../../support/fifty-creations.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";
import { sqliteStores } from "../../support/sqlite-stores.js";
import { aWorld } from "../../support/world.js";

describe("the application on SQLite", () => {
  it("keeps ledger, limits and promises through 20 random runs", async () => {
    await staysRightWhateverHappens(sqliteStores, { runs: 20 });
  }, 180_000);
});

describe("the application on PostgreSQL", () => {
  it("keeps ledger, limits and promises through 25 random runs with concurrent connections", async () => {
    const url = await freshDatabase();
    await staysRightWhateverHappens(() => postgresStores(url), { runs: 25 });
  }, 180_000);
});

describe.each([
  ["SQLite", sqliteStores],
  ["PostgreSQL", async () => postgresStores(await freshDatabase())],
])("the application on %s", (_, open) => {
  it("admits five of fifty concurrent creations", async () => {
    const stores = await open();
    await createsFiftyAtOnce(aWorld(stores));
    await stores.close();
  });
});
