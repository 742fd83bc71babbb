import { err, ok, type Result } from "neverthrow";
import type { Awaitable } from "../../../application/awaitable.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { AdmittedRequest, ApiRequests, RefusedRequest } from "../../../application/ports/stores/rate-limits.js";
import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import {
  type ApiKeyExpired,
  allowUse,
  type KeyLimits,
  type MissingScope,
  NO_LIMITS,
  type Scope,
} from "../../../domain/accounts/key-limits.js";
import { type Budgets, hasBudget } from "../../../domain/credits/budget.js";
import {
  type Admission,
  type AdmissionLog,
  accountRateLimited,
  admitRequest,
  type Rate,
  type RateLimited,
} from "../../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { type RequestKind, scopeOf } from "../../../domain/panorama-policy.js";
import { ALL_SCOPES, OPENING_COLUMNS, openingStandingOf, toKeyLimits } from "../accounts/account-rows.js";
import { branded, type Row, text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { POLL_COLUMNS, toTask } from "../tasks/task-rows.js";
import { admission, admissionParameters, logBefore, toAdmission } from "./postgres-rate-limits.js";

/**
 * Finds the key and counts its request. A key that is unknown or revoked returns no row; one that has expired or lacks
 * the scope returns a row without admissions, as one of a suspended account does. All count nothing.
 */
const countForKey = (scope: Scope): string => `
  with live_key as (
    select api_key.id, account_id, scopes, expires_at, credits_per_day, credits_per_month, suspension_reason
    from api_key join account on account.id = api_key.account_id
    where secret_sha256 = ? and revoked_at is null
  ),
  by_key as (${admission(`select id, cast(? as text), array[cast(? as bigint)], true from live_key
    where '${scope}' = any(string_to_array(scopes, ',')) and (expires_at is null or expires_at > ?)
    and suspension_reason is null`)})`;

/** Only a write that the limit of the key admits. */
const COUNT_FOR_ACCOUNT = `
  by_account as (${admission(
    "select account_id, cast(? as text), array[cast(? as bigint)], true from live_key cross join by_key where admitted",
  )})`;

/** `limits` is null for a key without limits: the driver spends time on each column of an answer. */
const OF_KEY = `live_key.id as key_id, live_key.account_id, by_key.admissions, by_key.admitted,
  case when scopes <> '${ALL_SCOPES}' or expires_at is not null or credits_per_day is not null
    or credits_per_month is not null or live_key.suspension_reason is not null then to_json(live_key) end as limits`;
const OF_ACCOUNT = "by_account.admissions as account_admissions, by_account.admitted as account_admitted";

/** The columns that a creation needs to decide (task-opening.ts). */
const ACCOUNT = `account.credits, ${OPENING_COLUMNS}, cast(account.xmin as text) as account_version`;

const READ = `${countForKey("read")}
  select ${OF_KEY} from live_key left join by_key on true`;

/** Without such a task the columns of `task` are null. */
const READ_TASK = `${countForKey("read")}
  select ${OF_KEY}, ${POLL_COLUMNS} from live_key left join by_key on true
  left join task on task.id = ? and task.account_id = live_key.account_id and task.deleted_at is null`;

const WRITE = `${countForKey("create")}, ${COUNT_FOR_ACCOUNT}
  select ${OF_KEY}, ${OF_ACCOUNT}, ${ACCOUNT} from live_key join account on account.id = live_key.account_id
  left join by_key on true left join by_account on true`;

const WRITE_TASK = `${countForKey("create")}, ${COUNT_FOR_ACCOUNT}
  select ${OF_KEY}, ${OF_ACCOUNT}, ${POLL_COLUMNS} from live_key left join by_key on true left join by_account on true
  left join task on task.id = ? and task.account_id = live_key.account_id and task.deleted_at is null`;

/**
 * The requests that the limit of a key has counted when it refused one. `checkedAt`: when the database was last asked.
 */
type Refused = { readonly log: AdmissionLog; checkedAt: number };

/** Time for which a key that was revoked meanwhile is still refused for its rate limit. */
const REFUSED_MILLISECONDS = 1_000;

/** Keys that are remembered. All are forgotten when there are more. */
const REFUSED_MAX = 1_000;

/**
 * Key, rate limits, and the task or the account in one round trip; all instances on the database share the counters.
 *
 * A key that has reached its limit asks the database once a second, and is refused without it in between: its requests
 * would all wait for the lock of one row, on the connections that the requests of others need.
 */
export class PostgresApiRequests implements ApiRequests {
  private readonly database: Pick<Database, "sql">;
  private readonly clock: Clock;
  private readonly rates: Readonly<Record<RequestKind, Rate>>;
  /** By kind and digest of the key. */
  private readonly refused = new Map<string, Refused>();

  constructor(database: Pick<Database, "sql">, clock: Clock, rates: Readonly<Record<RequestKind, Rate>>) {
    this.database = database;
    this.clock = clock;
    this.rates = rates;
  }

  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
    const time = this.clock.now();
    const refusal = this.refused.size > 0 ? this.refusalOf(kind + secretSha256, kind, time.getTime()) : undefined;
    return refusal === undefined ? this.count(secretSha256, kind, task, time) : err(refusal);
  }

  /** While others ask the database about the key, it goes on being refused. */
  private refusalOf(name: string, kind: RequestKind, now: number): RateLimited | undefined {
    const refused = this.refused.get(name);
    if (refused === undefined) return undefined;
    const admitted = admitRequest(refused.log, this.rates[kind], now);
    if (admitted.isErr() && Math.abs(now - refused.checkedAt) < REFUSED_MILLISECONDS) return admitted.error;
    if (admitted.isErr()) refused.checkedAt = now;
    else this.refused.delete(name);
    return undefined;
  }

  private async count(
    secretSha256: string,
    kind: RequestKind,
    task: TaskId | undefined,
    time: Date,
  ): Promise<Result<AdmittedRequest, RefusedRequest>> {
    const now = time.getTime();
    const isWrite = kind === "write";
    const { [kind]: rate, total } = this.rates;
    const parameters: unknown[] = [secretSha256, kind, now, time, ...admissionParameters(rate)];
    if (isWrite) parameters.push("total", now, ...admissionParameters(total));
    if (task !== undefined) parameters.push(task);
    const [withTask, withoutTask] = isWrite ? [WRITE_TASK, WRITE] : [READ_TASK, READ];
    const [row] = await this.database.sql(task === undefined ? withoutTask : withTask, parameters);
    if (this.refused.size > 0 && row?.admitted !== false) this.refused.delete(kind + secretSha256);
    if (row === undefined) return err({ kind: "invalid_api_key" });
    if (row.admitted === null) return err(refusalOf(row, kind, time));

    const ofKey: Result<Omit<Admission, "log">, RateLimited> = toAdmission(row, rate, now);
    if (ofKey.isErr()) {
      if (this.refused.size >= REFUSED_MAX) this.refused.clear();
      this.refused.set(kind + secretSha256, { log: logBefore(row), checkedAt: now });
      return err(ofKey.error);
    }
    if (isWrite) {
      const { account_admissions: admissions, account_admitted: admitted } = row;
      const ofAccount = toAdmission({ admissions, admitted }, total, now);
      if (ofAccount.isErr()) return err(accountRateLimited(ofAccount.error));
    }
    const { expiresAt, scopes } = limitsOf(row);
    const accountId = branded<AccountId>(row, "account_id");
    const account =
      row.account_version === undefined
        ? undefined
        : { standing: openingStandingOf(accountId, row), version: text(row, "account_version") };
    return ok({
      accountId,
      key: {
        id: branded<ApiKeyId>(row, "key_id"),
        expiresAt,
        budgets: isWrite ? budgetsOf(row) : undefined,
        mayRead: scopes.includes("read") ? undefined : false,
        account,
      },
      secretSha256,
      admission: ofKey.value,
      task: typeof row.id === "string" ? toTask(row) : undefined,
    });
  }
}

/** The domain's reason for a key that the statement has not counted. Throws if the statement has decided otherwise. */
function refusalOf(row: Row, kind: RequestKind, now: Date): AccountSuspended | ApiKeyExpired | MissingScope {
  const reason = (row.limits as Row | null)?.suspension_reason;
  if (typeof reason === "string") return { kind: "account_suspended", reason };
  const allowed = allowUse(limitsOf(row), scopeOf(kind), now);
  if (allowed.isOk()) throw new Error("SQL and domain disagree about the limits of a key");
  return allowed.error;
}

const limitsOf = ({ limits }: Row): KeyLimits => (limits === null ? NO_LIMITS : toKeyLimits(limits as Row));

function budgetsOf(row: Row): Budgets | undefined {
  const limits = limitsOf(row);
  return hasBudget(limits) ? limits : undefined;
}
