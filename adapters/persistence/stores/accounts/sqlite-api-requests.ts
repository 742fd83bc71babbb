import { err, ok, type Result } from "neverthrow";
import { countRequest } from "../../../../application/accounts/count-request.js";
import { type Awaitable, whenReady } from "../../../../application/awaitable.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type {
  AdmittedKey,
  AdmittedRequest,
  ApiRequests,
  RefusedRequest,
} from "../../../../application/ports/stores/accounts/api-requests.js";
import type { RateLimits } from "../../../../application/ports/stores/rate-limits.js";
import type { AccountId } from "../../../../domain/account-id.js";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import { allowUse, type KeyLimits } from "../../../../domain/accounts/key-limits.js";
import { hasBudget } from "../../../../domain/credits/budget.js";
import { type RequestKind, scopeOf } from "../../../../domain/panorama-policy.js";
import type { TaskId } from "../../../../domain/task-id.js";
import type { Task } from "../../../../domain/tasks/task.js";
import { RecentMap } from "../../../system/recent-map.js";
import { toKeyLimits } from "../../rows/account-rows.js";
import { branded, optional, type Row, text } from "../../sql/columns.js";
import type { SynchronousReads, WatchedRows } from "../../sql/database.js";
import { TASK_COLUMN_NAMES, TASK_COLUMNS, toTask } from "../../tasks/task-rows.js";

/** What `toKeyLimits` reads. */
const LIMITS = ["scopes", "expires_at", "credits_per_day", "credits_per_month"];
const KEY = `api_key.id as key_id, api_key.account_id as owner, account.suspension_reason, ${LIMITS.join(", ")}`;

const LIVE_KEY = `select ${KEY} from api_key join account on account.id = api_key.account_id
  where secret_sha256 = ? and revoked_at is null`;

/** Without such a task the columns of `task` are null. */
const LIVE_KEY_WITH_TASK = `select ${KEY}, ${TASK_COLUMNS} from api_key join account on account.id = api_key.account_id
  left join task on task.id = ? and task.account_id = api_key.account_id and task.hidden_at is null
  where secret_sha256 = ? and revoked_at is null`;

/** A key as the database holds it, and the task of its account that a request has named. */
type KnownKey = {
  readonly key: AdmittedKey;
  readonly limits: KeyLimits;
  readonly accountId: AccountId;
  readonly suspensionReason: string | undefined;
};
type Found = KnownKey & { readonly task: Task | undefined };

/** All that the statements read. The leases of background work and the last uses of keys are in other columns. */
const REMEMBERED: readonly WatchedRows[] = [
  { table: "api_key", name: "secret_sha256", columns: ["id", "account_id", "secret_sha256", "revoked_at", ...LIMITS] },
  { table: "task", name: "id", columns: [...TASK_COLUMN_NAMES, "hidden_at"] },
  // By its address, which no key or task has as its name.
  { table: "account", name: "email", columns: ["suspension_reason"] },
];

/** Usually 1.5 kB for a task and 0.5 kB for a key, and up to twice as many are kept: together at most 64 MiB. */
const REMEMBERED_MAX = 16_000;

/** The row of a task may have 20,000 characters. With more than this it is read each time: that is 192 MiB at most. */
const REMEMBERED_CHARACTERS_MAX = 2_000;

/**
 * Key and task in one statement. A SQLite file has one instance, so that its requests are counted in memory.
 *
 * A key or a task that was read is remembered until this process changes its row, or another process commits anything;
 * not at all while such changes cannot be told, as on the connection of an embedder, who may write at any time.
 * The requests of one turn of the event loop share one look for commits of other processes (sqlite-reader.ts). Whether
 * a key has expired is decided at each request.
 */
export class SqliteApiRequests implements ApiRequests {
  private readonly database: SynchronousReads;
  private readonly rateLimits: RateLimits;
  private readonly clock: Pick<Clock, "now">;
  private readonly keys = new RecentMap<string, KnownKey>(REMEMBERED_MAX);
  private readonly tasks = new RecentMap<string, Task>(REMEMBERED_MAX);
  private version = Number.NaN;
  private compared = false;

  constructor(database: SynchronousReads, rateLimits: RateLimits, clock: Pick<Clock, "now">) {
    this.database = database;
    this.rateLimits = rateLimits;
    this.clock = clock;
    database.onChange(REMEMBERED, (name) => {
      this.keys.delete(name);
      this.tasks.delete(name);
      // A suspension is rare. Which keys an account has is not remembered, so all are read again.
      if (name.includes("@")) this.keys.clear();
    });
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const found = this.find(secretSha256, task);
    if (found === undefined) return err({ kind: "invalid_api_key" });
    const { suspensionReason: reason } = found;
    if (reason !== undefined) return err({ kind: "account_suspended", reason });
    const allowed = allowUse(found.limits, scopeOf(kind), this.clock.now());
    if (allowed.isErr()) return err(allowed.error);
    return whenReady(countRequest(this.rateLimits, found.key.id, found.accountId, kind), (counted) =>
      counted.isErr()
        ? err(counted.error)
        : ok({ accountId: found.accountId, key: found.key, admission: counted.value, task: found.task }),
    );
  }

  private find(secretSha256: string, taskId: TaskId | undefined): Found | undefined {
    if (!this.compared) this.compare();
    const known = this.keys.get(secretSha256);
    if (known !== undefined) {
      if (taskId === undefined) return { ...known, task: undefined };
      const task = this.tasks.get(taskId);
      if (task !== undefined) return { ...known, task: task.accountId === known.accountId ? task : undefined };
    }
    const row =
      taskId === undefined
        ? this.database.first(LIVE_KEY, [secretSha256])
        : this.database.first(LIVE_KEY_WITH_TASK, [taskId, secretSha256]);
    if (row === undefined) return undefined;
    const key = toKey(row);
    const task = typeof row.id === "string" ? toTask(row) : undefined;
    if (known === undefined) this.keys.set(secretSha256, key);
    if (task !== undefined && charactersOf(row) <= REMEMBERED_CHARACTERS_MAX) this.tasks.set(task.id, task);
    return { ...key, task };
  }

  private compare(): void {
    const version = this.database.versionOfOthers();
    if (version !== this.version) {
      this.keys.clear();
      this.tasks.clear();
    }
    this.version = version;
    if (Number.isNaN(version)) return;
    this.compared = true;
    setImmediate(() => {
      this.compared = false;
    });
  }
}

const charactersOf = (row: Row): number => {
  let characters = 0;
  for (const column in row) {
    const value = row[column];
    if (typeof value === "string") characters += value.length;
  }
  return characters;
};

const toKey = (row: Row): KnownKey => {
  const limits = toKeyLimits(row);
  return {
    key: {
      id: branded<ApiKeyId>(row, "key_id"),
      expiresAt: limits.expiresAt,
      budgets: hasBudget(limits) ? limits : undefined,
    },
    limits,
    accountId: branded<AccountId>(row, "owner"),
    suspensionReason: optional(row, "suspension_reason", text),
  };
};
