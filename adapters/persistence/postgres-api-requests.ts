import { err, type Result } from "neverthrow";
import type { AdmittedRequest, ApiRequests, InvalidApiKey } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { AccountId } from "../../domain/account.js";
import type { RateLimited, RequestKind } from "../../domain/rate-limit.js";
import type { TaskId } from "../../domain/task-id.js";
import { branded } from "./columns.js";
import type { Database } from "./database.js";
import { admission, admissionParameters, toAdmission } from "./postgres-rate-limits.js";
import { toTask } from "./task-rows.js";

/** Finds the key and counts its request. A key that is unknown or revoked counts nothing and returns no row. */
const ADMIT = `
  with live_key as (select id, account_id from api_key where secret_sha256 = ? and revoked_at is null),
  counted as (${admission("select id, cast(? as text), array[cast(? as bigint)], true from live_key")})`;

const WITHOUT_TASK = `${ADMIT}
  select live_key.account_id as owner, admissions, admitted from live_key cross join counted`;

/** Without such a task the columns of `task` are null. */
const WITH_TASK = `${ADMIT}
  select live_key.account_id as owner, admissions, admitted, task.* from live_key cross join counted
  left join task on task.id = ? and task.account_id = live_key.account_id and task.hidden_at is null`;

/** Key, rate limit and task in one round trip; all instances on the database share the counters. */
export class PostgresApiRequests implements ApiRequests {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async admit(
    secretSha256: string,
    kind: RequestKind,
    task?: TaskId,
  ): Promise<Result<AdmittedRequest, InvalidApiKey | RateLimited>> {
    const now = this.clock.now().getTime();
    const parameters = [secretSha256, kind, now, ...admissionParameters(kind)];
    const [row] = await (task === undefined
      ? this.database.sql(WITHOUT_TASK, parameters)
      : this.database.sql(WITH_TASK, [...parameters, task]));
    if (row === undefined) return err({ kind: "invalid_api_key" });
    return toAdmission(row, kind, now).map((admission) => ({
      accountId: branded<AccountId>(row, "owner"),
      admission,
      task: typeof row.id === "string" ? toTask(row) : undefined,
    }));
  }
}
