import { err, ok, type Result } from "neverthrow";
import { countRequest } from "../../../application/accounts/count-request.js";
import { type Awaitable, whenReady } from "../../../application/awaitable.js";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  AdmittedKey,
  AdmittedRequest,
  ApiRequests,
  RefusedRequest,
} from "../../../application/ports/stores/api-requests.js";
import type { RateLimits } from "../../../application/ports/stores/rate-limits.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { allowUse, type KeyLimits } from "../../../domain/accounts/key-limits.js";
import { hasBudget } from "../../../domain/credits/budget.js";
import { type RequestKind, scopeOf } from "../../../domain/panorama-policy.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { Task } from "../../../domain/tasks/task.js";
import { toKeyLimits } from "../rows/account-rows.js";
import { branded, type Row } from "../sql/columns.js";
import type { SynchronousReads } from "../sql/database.js";
import { TASK_COLUMNS, toTask } from "../tasks/task-rows.js";

const KEY = "api_key.id as key_id, api_key.account_id as owner, scopes, expires_at, credits_per_day, credits_per_month";

const LIVE_KEY = `select ${KEY} from api_key
  where secret_sha256 = ? and revoked_at is null`;

/** Without such a task the columns of `task` are null. */
const LIVE_KEY_WITH_TASK = `select ${KEY}, ${TASK_COLUMNS} from api_key
  left join task on task.id = ? and task.account_id = api_key.account_id and task.hidden_at is null
  where secret_sha256 = ? and revoked_at is null`;

/** The key and the task of a request, as the database holds them. */
type Found = {
  readonly key: AdmittedKey;
  readonly limits: KeyLimits;
  readonly accountId: AccountId;
  readonly task: Task | undefined;
};

/** About 2 kB each. All are forgotten when there are more. */
const REMEMBERED_MAX = 20_000;

/**
 * Key and task in one statement. A SQLite file has one instance, so that its requests are counted in memory.
 *
 * What was found is remembered until anybody commits: then `SynchronousReads.version` changes, and everything is
 * forgotten. The requests that one turn of the event loop finds share one comparison of the version: each had begun
 * before it, and reading the version costs more than all else in a read. Whether a key has expired is decided at each
 * request.
 */
export class SqliteApiRequests implements ApiRequests {
  private readonly database: Pick<SynchronousReads, "first" | "version">;
  private readonly rateLimits: RateLimits;
  private readonly clock: Pick<Clock, "now">;
  private readonly remembered = new Map<string, Found>();
  private rememberedAt: number | string | undefined;
  private compared = false;

  constructor(
    database: Pick<SynchronousReads, "first" | "version">,
    rateLimits: RateLimits,
    clock: Pick<Clock, "now">,
  ) {
    this.database = database;
    this.rateLimits = rateLimits;
    this.clock = clock;
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const found = this.find(secretSha256, task);
    if (found === undefined) return err({ kind: "invalid_api_key" });
    const allowed = allowUse(found.limits, scopeOf(kind), this.clock.now());
    if (allowed.isErr()) return err(allowed.error);
    return whenReady(countRequest(this.rateLimits, found.key.id, found.accountId, kind), (counted) =>
      counted.isErr()
        ? err(counted.error)
        : ok({ accountId: found.accountId, key: found.key, admission: counted.value, task: found.task }),
    );
  }

  private find(secretSha256: string, task: TaskId | undefined): Found | undefined {
    if (!this.compared) this.compare();
    const name = task === undefined ? secretSha256 : secretSha256 + task;
    const remembered = this.remembered.get(name);
    if (remembered !== undefined) return remembered;

    const row =
      task === undefined
        ? this.database.first(LIVE_KEY, [secretSha256])
        : this.database.first(LIVE_KEY_WITH_TASK, [task, secretSha256]);
    if (row === undefined) return undefined;
    const found = toFound(row);
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.clear();
    // A commit after `version` was read changes it again, so that this is forgotten in the next turn.
    this.remembered.set(name, found);
    return found;
  }

  private compare(): void {
    const version = this.database.version();
    if (version !== this.rememberedAt) this.remembered.clear();
    this.rememberedAt = version;
    this.compared = true;
    setImmediate(() => {
      this.compared = false;
    });
  }
}

const toFound = (row: Row): Found => {
  const limits = toKeyLimits(row);
  return {
    key: {
      id: branded<ApiKeyId>(row, "key_id"),
      expiresAt: limits.expiresAt,
      budgets: hasBudget(limits) ? limits : undefined,
    },
    limits,
    accountId: branded<AccountId>(row, "owner"),
    task: typeof row.id === "string" ? toTask(row) : undefined,
  };
};
