import type { Account } from "../../../domain/accounts/account.js";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import { type KeyLimits, type KeyValidity, SCOPES, type Scope } from "../../../domain/accounts/key-limits.js";
import type { Session } from "../../../domain/accounts/session.js";
import { credits } from "../../../domain/credits/credits.js";
import type { Failures, Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { withFailure } from "../../../domain/tasks/failure-budget.js";
import type { FailedTask } from "../../../domain/tasks/task.js";
import { amount, branded, date, integer, optional, type Row, text } from "../database/sql/columns.js";
import type { Statement } from "../database/sql/statement.js";

export const toAccount = (row: Row): Account => ({
  id: branded<AccountId>(row, "id"),
  email: branded<Account["email"]>(row, "email"),
  createdAt: date(row, "created_at"),
  ...(typeof row.suspension_reason === "string" && {
    suspension: { at: date(row, "suspended_at"), reason: row.suspension_reason },
  }),
});

export const toSession = (row: Row): Session => ({
  tokenSha256: text(row, "token_sha256"),
  accountId: branded<AccountId>(row, "account_id"),
  createdAt: date(row, "created_at"),
  expiresAt: date(row, "expires_at"),
});

export const toStanding = (accountId: AccountId, row: Row): Standing => ({
  accountId,
  credits: credits(integer(row, "credits")),
  activeTasks: integer(row, "active_tasks"),
  ...(row.debt !== 0 && { debt: amount(row, "debt") }),
});

/** The standing that decides about a new task. */
export const openingStandingOf = (accountId: AccountId, row: Row): Standing => ({
  ...toStanding(accountId, row),
  lowBalanceThreshold: optional(row, "low_balance_threshold", amount),
  ...(row.open_disputes !== 0 && { openDisputes: integer(row, "open_disputes") }),
  ...(typeof row.suspension_reason === "string" && { suspensionReason: row.suspension_reason }),
  failures: row.failure_day === 0 ? undefined : toFailures(row),
});

/** The columns of the account that `openingStandingOf` reads, besides its credits. */
export const OPENING_COLUMNS = [
  ...["active_tasks", "debt", "open_disputes", "low_balance_threshold", "failure_day", "failures", "failure_bytes"],
  "suspension_reason",
]
  .map((column) => `account.${column}`)
  .join(", ");

const toFailures = (row: Row): Failures => ({
  day: integer(row, "failure_day") as Failures["day"],
  count: integer(row, "failures"),
  bytes: integer(row, "failure_bytes"),
});

/**
 * Assignments to the account's row: one more creation has ended without a panorama (domain/tasks/failure-budget.ts).
 */
export function countFailure({ request, failedAt }: FailedTask): Statement {
  const { day, count, bytes } = withFailure(undefined, request, failedAt);
  return {
    text: `, failures = case when failure_day = ? then failures else 0 end + ?,
      failure_bytes = case when failure_day = ? then failure_bytes else 0 end + ?, failure_day = ?`,
    parameters: [day, count, day, bytes, day],
  };
}

export const toApiKey = (row: Row): ApiKey => ({
  id: branded<ApiKey["id"]>(row, "id"),
  accountId: branded<AccountId>(row, "account_id"),
  name: text(row, "name"),
  secretSha256: text(row, "secret_sha256"),
  createdAt: date(row, "created_at"),
  revokedAt: optional(row, "revoked_at", date),
  limits: toKeyLimits(row),
  lastUsedAt: optional(row, "last_used_at", date),
  prefix: text(row, "prefix"),
});

export const limitColumns = ({ scopes, expiresAt, creditsPerDay, creditsPerMonth }: KeyLimits): Row => ({
  scopes: scopes.join(","),
  expires_at: expiresAt ?? null,
  credits_per_day: creditsPerDay ?? null,
  credits_per_month: creditsPerMonth ?? null,
});

/** The column of a key that may do everything, as nearly all do. */
export const ALL_SCOPES = SCOPES.join(",");

/** A scope of a newer version is left out: this one has no request that needs it. */
function toScopes(row: Row): readonly Scope[] {
  const stored = text(row, "scopes");
  if (stored === ALL_SCOPES) return SCOPES;
  const scopes = stored.split(",");
  return SCOPES.filter((scope) => scopes.includes(scope));
}

export const toKeyUse = (row: Row): KeyValidity => ({
  scopes: toScopes(row),
  expiresAt: optional(row, "expires_at", date),
});

/** The limits of a key, which each request reads. Not made from `toKeyUse` by a spread, which is slower. */
export const toKeyLimits = (row: Row): KeyLimits => ({
  scopes: toScopes(row),
  expiresAt: optional(row, "expires_at", date),
  creditsPerDay: optional(row, "credits_per_day", amount),
  creditsPerMonth: optional(row, "credits_per_month", amount),
});
