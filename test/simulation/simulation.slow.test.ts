import { describe, expect, it } from "vitest";
import { simulate } from "./simulation.js";

describe("the application under simulated time and order", () => {
  it("keeps every rule in 1000 runs, which together reach every outcome", async () => {
    const seen = new Set<string>();
    const broken: string[] = [];
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const result = await simulate(seed, seen);
      if (result.broken !== undefined) broken.push(`seed ${seed}: ${result.broken}`);
    }
    expect(broken).toEqual([]);
    expect([...seen].sort()).toMatchInlineSnapshot(`
      [
        "cancellation: failed",
        "cancellation: generated",
        "cancellation: not_found",
        "cancellation: reserved",
        "cancellation: submitted",
        "cancellation: succeeded",
        "connection lost",
        "created: queued",
        "created: submitted",
        "deletion: done",
        "deletion: not_finished",
        "deletion: storage_unavailable",
        "failed: canceled",
        "failed: content_refused",
        "failed: deadline_passed",
        "failed: generation_failed",
        "failed: never_started",
        "failed: never_submitted",
        "failed: provider_unavailable",
        "failed: reference_unusable",
        "failed: refused",
        "failed: submission_unknown",
        "failed: unusable_result",
        "image_status",
        "picture_measured",
        "possible_orphan",
        "provider_unavailable",
        "refused: api_key_expired",
        "refused: budget_spent",
        "refused: insufficient_credits",
        "refused: invalid_request",
        "refused: missing_scope",
        "refused: rate_limited",
        "refused: too_many_active_tasks",
        "refused: upstream_error",
        "replayed",
        "submission_recovered",
        "task_queued",
        "task_requeued",
        "task_submitted",
        "task_succeeded",
        "waited: failed",
        "waited: not_found",
        "waited: processing",
        "waited: succeeded",
        "webhook_attempt",
        "work_failed",
      ]
    `);
  });

  it("replays a seed exactly, step by step", async () => {
    const lengths = new Set<number>();
    for (let seed = 1; seed <= 50; seed += 1) {
      const [first, second]: string[][] = [[], []];
      await simulate(seed, undefined, first);
      await simulate(seed + 1_000); // what another run leaves behind changes nothing
      await simulate(seed, undefined, second);
      expect(second).toEqual(first);
      lengths.add(first?.length ?? 0);
    }
    expect(lengths.size).toBeGreaterThan(20);
  });
});
