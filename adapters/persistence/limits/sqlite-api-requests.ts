import { err, ok, type Result } from "neverthrow";
import { countRequest } from "../../../application/accounts/api-requests.js";
import { type Awaitable, whenReady } from "../../../application/awaitable.js";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  AdmittedRequest,
  ApiRequests,
  RateLimits,
  RefusedRequest,
} from "../../../application/ports/stores/rate-limits.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { allowUse } from "../../../domain/accounts/key-limits.js";
import { hasBudget } from "../../../domain/credits/budget.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { type RequestKind, scopeOf } from "../../../domain/panorama-policy.js";
import { toKeyLimits } from "../accounts/account-rows.js";
import { branded, type Row } from "../database/sql/columns.js";
import type { SynchronousReads } from "../database/sql/database.js";
import { POLL_COLUMNS, toTask } from "../tasks/task-rows.js";

/** The key from one index alone, and nearly nothing of the account: schema/tables/accounts.ts has the indexes. */
const KEY = `api_key.id as key_id, api_key.account_id, scopes, expires_at, credits_per_day, credits_per_month,
  (select suspension_reason from account indexed by account_suspended_index
    where account.id = api_key.account_id and suspension_reason is not null) as suspension_reason`;

const LIVE_KEY = `select ${KEY} from api_key indexed by api_key_use_index
  where secret_sha256 = ? and revoked_at is null`;

/** Without such a task the columns of `task` are null. */
const LIVE_KEY_WITH_TASK = `select ${KEY}, ${POLL_COLUMNS} from api_key indexed by api_key_use_index
  left join task on task.id = ? and task.account_id = api_key.account_id and task.deleted_at is null
  where secret_sha256 = ? and revoked_at is null`;

/**
 * Key and task in one statement. A SQLite file has one instance, so that its requests are counted in memory. Nothing
 * that was read is remembered: a revoked key is refused as soon as its revocation is committed. A command in another
 * process can commit only between two commits of this one, so it may first wait for one that is being synced.
 */
export class SqliteApiRequests implements ApiRequests {
  private readonly database: SynchronousReads;
  private readonly rateLimits: RateLimits;
  private readonly clock: Pick<Clock, "now">;

  constructor(database: SynchronousReads, rateLimits: RateLimits, clock: Pick<Clock, "now">) {
    this.database = database;
    this.rateLimits = rateLimits;
    this.clock = clock;
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const row =
      task === undefined
        ? this.database.first(LIVE_KEY, [secretSha256])
        : this.database.first(LIVE_KEY_WITH_TASK, [task, secretSha256]);
    return whenReady(row, (found) => this.admitKey(found, secretSha256, kind));
  }

  private admitKey(
    row: Row | undefined,
    secretSha256: string,
    kind: RequestKind,
  ): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    if (row === undefined) return err({ kind: "invalid_api_key" });
    if (typeof row.suspension_reason === "string") {
      return err({ kind: "account_suspended", reason: row.suspension_reason });
    }
    const limits = toKeyLimits(row);
    const allowed = allowUse(limits, scopeOf(kind), this.clock.now());
    if (allowed.isErr()) return err(allowed.error);
    const accountId = branded<AccountId>(row, "account_id");
    const budgets = hasBudget(limits) ? limits : undefined;
    const mayRead = limits.scopes.includes("read") ? undefined : false;
    const key = { id: branded<ApiKeyId>(row, "key_id"), expiresAt: limits.expiresAt, budgets, mayRead };
    return whenReady(countRequest(this.rateLimits, key.id, accountId, kind), (counted) =>
      counted.isErr()
        ? err(counted.error)
        : ok({
            accountId,
            key,
            secretSha256,
            admission: counted.value,
            task: typeof row.id === "string" ? toTask(row) : undefined,
          }),
    );
  }
}
