import type { InferEntity } from "@mikro-orm/core";
import type { Account } from "../../../domain/accounts/account.js";
import type { ApiKey } from "../../../domain/accounts/api-key.js";
import { type KeyLimits, type KeyValidity, SCOPES, type Scope } from "../../../domain/accounts/key-limits.js";
import { credits } from "../../../domain/credits/credits.js";
import type { Order, OrderCheckout, OrderId } from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import type { Failures, Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { withFailure } from "../../../domain/tasks/failure-budget.js";
import type { FailedTask } from "../../../domain/tasks/task.js";
import { rowOf } from "../orm/entities.js";
import { ApiKeyTable } from "../schema/schema.js";
import { amount, branded, date, integer, oneOf, optional, type Row, text } from "../sql/columns.js";
import type { Statement } from "../sql/statement.js";

/** From an entity, or from `accountRow`. */
export const toAccount = (account: Row): Account => ({
  id: branded<AccountId>(account, "id"),
  email: branded<Account["email"]>(account, "email"),
  createdAt: date(account, "createdAt"),
  ...(typeof account.suspensionReason === "string" && {
    suspension: { at: date(account, "suspendedAt"), reason: account.suspensionReason },
  }),
});

export const standingOf = (accountId: AccountId, row: Row): Standing => ({
  accountId,
  credits: credits(integer(row, "credits")),
  activeTasks: integer(row, "active_tasks"),
  ...(row.debt !== 0 && { debt: amount(row, "debt") }),
});

/** The standing that decides about a new task. */
export const openingStandingOf = (accountId: AccountId, row: Row): Standing => ({
  ...standingOf(accountId, row),
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
export const countFailure = ({ request, failedAt }: FailedTask): Statement => {
  const { day, count, bytes } = withFailure(undefined, request, failedAt);
  return {
    text: `, failures = case when failure_day = ? then failures else 0 end + ?,
      failure_bytes = case when failure_day = ? then failure_bytes else 0 end + ?, failure_day = ?`,
    parameters: [day, count, day, bytes, day],
  };
};

export const toOrder = (row: Row): Order => {
  const core = {
    id: branded<Order["id"]>(row, "id"),
    accountId: branded<AccountId>(row, "account_id"),
    credits: credits(integer(row, "credits")),
    createdAt: date(row, "created_at"),
    checkout: toCheckout(row),
    paymentId: optional(row, "payment_id", text),
  };
  const paidAt = optional(row, "paid_at", date);
  if (paidAt === undefined) return { ...core, state: "pending" };
  const takenBack = row.taken_back === 0 ? undefined : amount(row, "taken_back");
  const returnReason = optional(row, "return_reason", text);
  const dispute = row.dispute === "none" ? undefined : oneOf(row, "dispute", DISPUTES);
  return { ...core, state: oneOf(row, "returned", RETURNED), paidAt, takenBack, dispute, returnReason };
};

const RETURNED = ["paid", "partly_refunded", "refunded"] as const;
const DISPUTES = ["none", "open", "won", "lost"] as const;

export const returnRow = (returned: PaymentReturn, paymentId: string | null, orderId: OrderId | null): Row => {
  const core = { id: returned.id, kind: returned.kind, payment_id: paymentId, order_id: orderId };
  switch (returned.kind) {
    case "refund":
      return { ...core, cents: returned.cents, at: returned.at, state_at: returned.failedAt ?? null };
    case "total":
      return { ...core, cents: returned.cents, at: returned.at };
    case "operator":
      return { ...core, credits: returned.credits, reason: returned.reason, at: returned.at };
    case "dispute": {
      const { cents = null, at = null, transfers = null } = returned.withdrawn ?? {};
      return { ...core, state: returned.state, state_at: returned.stateAt, cents, at, transfers };
    }
  }
};

export const toReturn = (row: Row): PaymentReturn => {
  const id = text(row, "id");
  const kind = oneOf(row, "kind", ["refund", "total", "operator", "dispute"] as const);
  switch (kind) {
    case "refund":
      return { id, kind, cents: integer(row, "cents"), at: date(row, "at"), failedAt: optional(row, "state_at", date) };
    case "total":
      return { id, kind, cents: integer(row, "cents"), at: date(row, "at") };
    case "operator":
      return { id, kind, credits: amount(row, "credits"), reason: branded(row, "reason"), at: date(row, "at") };
    case "dispute": {
      const at = optional(row, "at", date);
      const withdrawn = at && { cents: integer(row, "cents"), at, transfers: integer(row, "transfers") };
      return { id, kind, state: oneOf(row, "state", DISPUTES), stateAt: date(row, "state_at"), withdrawn };
    }
  }
};

const toCheckout = (row: Row): OrderCheckout | undefined => {
  const sessionId = optional(row, "checkout_session", text);
  if (sessionId === undefined) return undefined;
  const priceCents = integer(row, "price_cents");
  return { sessionId, token: text(row, "checkout_token"), priceCents, currency: text(row, "currency") };
};

export const newOrder = (order: Order) => ({
  id: order.id,
  accountId: order.accountId,
  credits: order.credits,
  createdAt: order.createdAt,
  paidAt: order.state === "pending" ? undefined : order.paidAt,
  paymentId: order.paymentId,
  ...(order.checkout && checkoutOf(order.checkout)),
});

export const checkoutOf = ({ sessionId, token, priceCents, currency }: OrderCheckout) => ({
  checkoutSession: sessionId,
  checkoutToken: token,
  priceCents,
  currency,
});

export const toApiKey = (key: InferEntity<typeof ApiKeyTable>): ApiKey => ({
  id: branded<ApiKey["id"]>(key, "id"),
  accountId: branded<AccountId>(key, "accountId"),
  name: text(key, "name"),
  secretSha256: text(key, "secretSha256"),
  createdAt: date(key, "createdAt"),
  revokedAt: optional(key, "revokedAt", date),
  limits: toKeyLimits(rowOf(ApiKeyTable, key)),
  lastUsedAt: optional(key, "lastUsedAt", date),
  prefix: text(key, "prefix"),
});

/** The column of a key that may do everything, as nearly all do. */
export const ALL_SCOPES = SCOPES.join(",");

/** A scope of a newer version is left out: this one has no request that needs it. */
const toScopes = (row: Row): readonly Scope[] => {
  const stored = text(row, "scopes");
  if (stored === ALL_SCOPES) return SCOPES;
  const scopes = stored.split(",");
  return SCOPES.filter((scope) => scopes.includes(scope));
};

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

export const newApiKey = ({ limits, ...key }: ApiKey) => ({ ...key, ...limitsOf(limits) });

export const limitsOf = ({ scopes, expiresAt, creditsPerDay, creditsPerMonth }: KeyLimits) => ({
  scopes: scopes.join(","),
  expiresAt: expiresAt ?? null,
  creditsPerDay: creditsPerDay ?? null,
  creditsPerMonth: creditsPerMonth ?? null,
});
