import { describe, expect, it } from "vitest";
import { staysRightWhateverHappens } from "../support/application-model.js";
import { createsFiftyAtOnce } from "../support/fifty-creations.js";
import { memoryStores } from "../support/memory/memory-stores.js";
import { freshDatabase } from "../support/postgres.js";
import { postgresStores } from "../support/postgres-stores.js";
import { sqliteStores } from "../support/sqlite-stores.js";
import { aWorld } from "../support/world.js";

describe("the application keeps its ledger, its limits and its word, whatever happens in whatever order", () => {
  it("over stores in memory", async () => {
    const seen = await staysRightWhateverHappens(async () => ({ ...memoryStores(), close: async () => {} }), {
      runs: 1_000,
    });
    // The stories are worth something only if they go everywhere.
    expect([...seen].sort()).toEqual([
      "deadline_passed",
      "generation_failed",
      "image expired",
      "image failed",
      "image saved",
      "image saved-no-thumb",
      "image uploading",
      "insufficient_credits",
      "invalid_request",
      "never_started",
      "never_submitted",
      "queued",
      "refused",
      "refused while the provider is down",
      "replayed",
      "submission_recovered",
      "submission_unknown",
      "too_many_active_tasks",
      "upstream_error",
    ]);
  }, 120_000);

  it("over SQLite", async () => {
    await staysRightWhateverHappens(sqliteStores, { runs: 20 });
  }, 180_000);

  it("over PostgreSQL, where calls that go on at once meet on connections of their own", async () => {
    const url = await freshDatabase();
    await staysRightWhateverHappens(() => postgresStores(url), { runs: 25 });
  }, 180_000);
});

it.each([
  ["SQLite", sqliteStores],
  ["PostgreSQL", async () => postgresStores(await freshDatabase())],
])("takes five of fifty creations at once, on %s too", async (_, open) => {
  const stores = await open();
  await createsFiftyAtOnce(aWorld(stores));
  await stores.close();
});
