import { err, type Result } from "neverthrow";
import { countRequest } from "../../../application/accounts/admit-api-request.js";
import { type Awaitable, whenReady } from "../../../application/awaitable.js";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  AdmittedRequest,
  ApiRequests,
  RateLimits,
  RefusedRequest,
} from "../../../application/ports/stores/rate-limits.js";
import { allowUse } from "../../../domain/accounts/key-limits.js";
import { hasBudget } from "../../../domain/credits/budget.js";
import type { TaskId } from "../../../domain/ids.js";
import { type RequestKind, scopeOf } from "../../../domain/panorama-policy.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Keys, rate limits and tasks in memory. */
export class MemoryApiRequests implements ApiRequests {
  private readonly database: MemoryDatabase;
  private readonly rateLimits: RateLimits;
  private readonly clock: Pick<Clock, "now">;

  constructor(database: MemoryDatabase, rateLimits: RateLimits, clock: Pick<Clock, "now">) {
    this.database = database;
    this.rateLimits = rateLimits;
    this.clock = clock;
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const key = [...this.database.keys.values()].find((key) => key.secretSha256 === secretSha256);
    if (key === undefined || key.revokedAt !== undefined) return err({ kind: "invalid_api_key" });
    const reason = this.database.account(key.accountId).standing.suspensionReason;
    if (reason !== undefined) return err({ kind: "account_suspended", reason });
    const allowed = allowUse(key.limits, scopeOf(kind), this.clock.now());
    if (allowed.isErr()) return err(allowed.error);
    const budgets = kind === "write" && hasBudget(key.limits) ? key.limits : undefined;
    return whenReady(countRequest(this.rateLimits, key.id, key.accountId, kind), (counted) =>
      counted.map((admission) => ({
        accountId: key.accountId,
        key: { id: key.id, expiresAt: key.limits.expiresAt, budgets },
        admission,
        task: task === undefined ? undefined : this.database.shown(task, key.accountId)?.task,
      })),
    );
  }
}
