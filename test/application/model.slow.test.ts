import { describe, expect, it } from "vitest";
import { memoryDatabase } from "../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../adapters/persistence/sql-stores.js";
import { keepsItsInvariants } from "../support/application-model.js";

describe("the application on SQLite in memory", () => {
  it("keeps its invariants in 1000 random runs, which together reach every outcome", async () => {
    const seen = await keepsItsInvariants(async () => ({ ...sqlStores(memoryDatabase()), close: async () => {} }), {
      runs: 1_000,
    });
    // The runs test enough only if together they reach every outcome.
    expect([...seen].sort()).toEqual([
      "budget_spent",
      "canceled",
      "canceled at the provider",
      "canceled in the queue",
      "content_refused",
      "deadline_passed",
      "gave its turn",
      "generated",
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
      "place fell",
      "place rose",
      "queued",
      "reference_unusable",
      "refused",
      "refused while the provider is down",
      "replayed",
      "storage unavailable",
      "submission_recovered",
      "submission_unknown",
      "task_requeued",
      "told failed after a cancellation",
      "told processing after a cancellation",
      "told succeeded after a cancellation",
      "too_many_active_tasks",
      "unusable_result",
      "upstream_error",
    ]);
  });
});
