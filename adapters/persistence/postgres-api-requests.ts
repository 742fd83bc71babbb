import { err, ok, type Result } from "neverthrow";
import type { AdmittedRequest, ApiRequests, RefusedRequest } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { AccountId } from "../../domain/account.js";
import { type Admission, accountRateLimited, type RateLimited, type RequestKind } from "../../domain/rate-limit.js";
import type { TaskId } from "../../domain/task-id.js";
import { branded } from "./columns.js";
import type { Database } from "./database.js";
import { admission, admissionParameters, toAdmission } from "./postgres-rate-limits.js";
import { toTask } from "./task-rows.js";

/** Finds the key and counts its request. A key that is unknown or revoked counts nothing and returns no row. */
const COUNT_FOR_KEY = `
  with live_key as (select id, account_id from api_key where secret_sha256 = ? and revoked_at is null),
  by_key as (${admission("select id, cast(? as text), array[cast(? as bigint)], true from live_key")})`;

/** Only a write that the limit of the key admits. */
const COUNT_FOR_ACCOUNT = `
  by_account as (${admission(
    "select account_id, cast(? as text), array[cast(? as bigint)], true from live_key cross join by_key where admitted",
  )})`;

const OF_KEY = "live_key.account_id as owner, by_key.admissions, by_key.admitted";
const OF_ACCOUNT = "by_account.admissions as account_admissions, by_account.admitted as account_admitted";

const READ = `${COUNT_FOR_KEY}
  select ${OF_KEY} from live_key cross join by_key`;

/** Without such a task the columns of `task` are null. */
const READ_TASK = `${COUNT_FOR_KEY}
  select ${OF_KEY}, task.* from live_key cross join by_key
  left join task on task.id = ? and task.account_id = live_key.account_id and task.hidden_at is null`;

const WRITE = `${COUNT_FOR_KEY}, ${COUNT_FOR_ACCOUNT}
  select ${OF_KEY}, ${OF_ACCOUNT} from live_key cross join by_key left join by_account on true`;

const WRITE_TASK = `${COUNT_FOR_KEY}, ${COUNT_FOR_ACCOUNT}
  select ${OF_KEY}, ${OF_ACCOUNT}, task.* from live_key cross join by_key left join by_account on true
  left join task on task.id = ? and task.account_id = live_key.account_id and task.hidden_at is null`;

/** Key, rate limits and task in one round trip; all instances on the database share the counters. */
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
  ): Promise<Result<AdmittedRequest, RefusedRequest>> {
    const now = this.clock.now().getTime();
    const isWrite = kind === "write";
    const parameters: unknown[] = [secretSha256, kind, now, ...admissionParameters(kind)];
    if (isWrite) parameters.push("total", now, ...admissionParameters("total"));
    if (task !== undefined) parameters.push(task);
    const [withTask, withoutTask] = isWrite ? [WRITE_TASK, WRITE] : [READ_TASK, READ];
    const [row] = await this.database.sql(task === undefined ? withoutTask : withTask, parameters);
    if (row === undefined) return err({ kind: "invalid_api_key" });

    const ofKey: Result<Omit<Admission, "log">, RateLimited> = toAdmission(row, kind, now);
    if (ofKey.isErr()) return err(ofKey.error);
    if (isWrite) {
      const { account_admissions: admissions, account_admitted: admitted } = row;
      const ofAccount = toAdmission({ admissions, admitted }, "total", now);
      if (ofAccount.isErr()) return err(accountRateLimited(ofAccount.error));
    }
    return ok({
      accountId: branded<AccountId>(row, "owner"),
      admission: ofKey.value,
      task: typeof row.id === "string" ? toTask(row) : undefined,
    });
  }
}
