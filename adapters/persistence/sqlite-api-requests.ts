import { err, ok, type Result } from "neverthrow";
import { type Awaitable, whenReady } from "../../application/awaitable.js";
import type { AdmittedRequest, ApiRequests, RefusedRequest } from "../../application/ports/api-requests.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import {
  type AccountRateLimited,
  type Admission,
  accountRateLimited,
  type RateLimited,
  type RequestKind,
} from "../../domain/rate-limit.js";
import type { TaskId } from "../../domain/task-id.js";
import { branded } from "./columns.js";
import type { Database } from "./database.js";
import { toTask } from "./task-rows.js";

const LIVE_KEY = `select api_key.id as key_id, api_key.account_id as owner from api_key
  where secret_sha256 = ? and revoked_at is null`;

/** Without such a task the columns of `task` are null. */
const LIVE_KEY_WITH_TASK = `select api_key.id as key_id, api_key.account_id as owner, task.* from api_key
  left join task on task.id = ? and task.account_id = api_key.account_id and task.hidden_at is null
  where secret_sha256 = ? and revoked_at is null`;

/** Key and task in one statement. A SQLite file has one instance, so that its requests are counted in memory. */
export class SqliteApiRequests implements ApiRequests {
  private readonly database: Pick<Database, "first">;
  private readonly rateLimits: RateLimits;

  constructor(database: Pick<Database, "first">, rateLimits: RateLimits) {
    this.database = database;
    this.rateLimits = rateLimits;
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const found =
      task === undefined
        ? this.database.first(LIVE_KEY, [secretSha256])
        : this.database.first(LIVE_KEY_WITH_TASK, [task, secretSha256]);
    return whenReady(found, (row) => {
      if (row === undefined) return err({ kind: "invalid_api_key" });
      const accountId = branded<AccountId>(row, "owner");
      return whenReady(this.count(branded<ApiKeyId>(row, "key_id"), accountId, kind), (counted) => {
        if (counted.isErr()) return err(counted.error);
        const named = typeof row.id === "string" ? toTask(row) : undefined;
        return ok({ accountId, admission: counted.value, task: named });
      });
    });
  }

  private count(
    key: ApiKeyId,
    account: AccountId,
    kind: RequestKind,
  ): Awaitable<Result<Omit<Admission, "log">, RateLimited | AccountRateLimited>> {
    const byKey = this.rateLimits.admit(key, kind);
    if (kind !== "write") return byKey;
    return whenReady(byKey, (admitted) => {
      if (admitted.isErr()) return err(admitted.error);
      return whenReady(this.rateLimits.admit(account, "total"), (byAccount) =>
        byAccount.isErr() ? err(accountRateLimited(byAccount.error)) : ok(admitted.value),
      );
    });
  }
}
