import { describe, expect, it } from "vitest";
import { keepsItsInvariants } from "../support/application-model.js";
import { createsFiftyConcurrently } from "../support/fifty-creations.js";
import { memoryStores } from "../support/memory/memory-stores.js";
import { freshDatabase } from "../support/postgres.js";
import { postgresStores } from "../support/postgres-stores.js";
import { sqliteStores } from "../support/sqlite-stores.js";
import { aWorld } from "../support/world.js";

describe("random model runs of the application keep the ledger exact and every limit", () => {
  it("with stores in memory, and reach every kind of event and outcome", async () => {
    const seen = await keepsItsInvariants(async () => ({ ...memoryStores(), close: async () => {} }), {
      runs: 1_000,
    });
    // The model runs are useful only if they reach every event and outcome.
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

  it("with stores on SQLite", async () => {
    await keepsItsInvariants(sqliteStores, { runs: 20 });
  }, 180_000);

  it("with stores on PostgreSQL, where concurrent calls use separate connections", async () => {
    const url = await freshDatabase();
    await keepsItsInvariants(() => postgresStores(url), { runs: 25 });
  }, 180_000);
});

it.each([
  ["SQLite", sqliteStores],
  ["PostgreSQL", async () => postgresStores(await freshDatabase())],
])("createPanorama accepts five of fifty concurrent creations on %s", async (_, open) => {
  const stores = await open();
  await createsFiftyConcurrently(aWorld(stores));
  await stores.close();
});
