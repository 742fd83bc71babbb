import { defineEntity, type EntitySchema, p } from "@mikro-orm/core";
import { LISTED_ENDPOINT, TO_BE_ERASED } from "../schema/indexed-conditions.js";

/*
 * The tables that stores read and change as entities. The migrations make them from the texts in schema/tables/, which
 * have all tables; a test fails if the two differ. To change one before 3.0.0 is released, edit both.
 */

/** A foreign key is a plain id, restricts deletion of its target, and has an index if a query needs one. */
const refersTo = <Target extends EntitySchema>(target: Target, column: string) =>
  p.manyToOne(target).mapToPk().joinColumn(column).deleteRule("restrict").updateRule("restrict").index(false);

/** An index that has only the rows of a condition. Others cost it nothing. */
const partial = (kind: "index" | "unique index") => (name: string, on: string, where: string) => ({
  name,
  expression: `create ${kind} ${name} on ${on} where ${where}`,
});
const partialIndex = partial("index");
const partialUnique = partial("unique index");

export const AccountTable = defineEntity({
  name: "Account",
  tableName: "account",
  checks: [
    { name: "account_credits_check", expression: "credits >= 0" },
    { name: "account_active_tasks_check", expression: "active_tasks >= 0" },
  ],
  indexes: [
    partialIndex("account_to_be_erased_index", "account (closed_at)", TO_BE_ERASED),
    // Nearly empty: on SQLite each request asks whether the account of its key is suspended.
    partialIndex("account_suspended_index", "account (id, suspension_reason)", "suspension_reason is not null"),
  ],
  properties: {
    id: p.string().length(40).primary(),
    email: p.string().length(254).unique("account_email_unique"),
    passwordHash: p.string().length(255).nullable(),
    credits: p.integer(),
    activeTasks: p.integer(),
    /** The turn of its latest queued task; 0 if it never had one. */
    lastTurn: p.integer().default(0),
    /** Below this balance the owner gets an event (domain/credits/standing.ts); null: never. */
    lowBalanceThreshold: p.integer().nullable(),
    /** The number of its latest event; 0 if it has none. */
    lastEvent: p.integer().default(0),
    /** The owed credits: the sum of the ledger entries of this kind (domain/credits/funds.ts). */
    debt: p.integer().default(0),
    /** Number of orders with an open dispute. */
    openDisputes: p.integer().default(0),
    /** All credits ever bought or adjusted, minus the returned ones. A trigger keeps it (migration-steps.ts). */
    granted: p.bigint("number").default(0),
    /**
     * The day of `failures` and `failure_bytes`, as `yyyymmdd` (domain/tasks/failure-budget.ts); 0 if there were none.
     */
    failureDay: p.integer().default(0),
    failures: p.integer().default(0),
    failureBytes: p.integer().default(0),
    createdAt: p.datetime(3),
    /** Set when the account is closed (application/close-account.ts). */
    closedAt: p.datetime(3).nullable(),
    /** Since when nothing of a closed account is left that must be erased. */
    erasedAt: p.datetime(3).nullable(),
    /** When an operator has suspended it, and why; null while it is not suspended. */
    suspendedAt: p.datetime(3).nullable(),
    suspensionReason: p.string().length(200).nullable(),
  },
});

const accountId = () => refersTo(AccountTable, "account_id");

export const ApiKeyTable = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  indexes: [
    { name: "api_key_account_index", properties: ["accountId"] },
    // Partial: revoked keys stay for ever.
    partialIndex("api_key_live_index", "api_key (account_id)", "revoked_at is null"),
    // The columns that each request reads of its key on SQLite.
    partialIndex(
      "api_key_use_index",
      "api_key (secret_sha256, revoked_at, id, account_id, scopes, expires_at, credits_per_day, credits_per_month)",
      "revoked_at is null",
    ),
  ],
  properties: {
    id: p.string().length(40).primary(),
    accountId,
    name: p.string().length(80),
    secretSha256: p.string().length(64).unique("api_key_secret_unique"),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    /** Separated by commas. */
    scopes: p.string().length(64).default("read,create"),
    expiresAt: p.datetime(3).nullable(),
    creditsPerDay: p.integer().nullable(),
    creditsPerMonth: p.integer().nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    /** The beginning of the secret, which people see. */
    prefix: p.string().length(16),
  },
});

/** E-mails that are to be sent (application/ports/stores/email-outbox.ts). */
export const OutgoingEmailTable = defineEntity({
  name: "OutgoingEmail",
  tableName: "outgoing_email",
  properties: {
    id: p.string().length(64).primary(),
    kind: p.string().length(32),
    recipient: p.text(),
    /** The account whose new address it confirms. Without a foreign key: it is deleted within a day. */
    accountId: p.string().length(40).nullable(),
    /** Number of claims. */
    attempt: p.integer(),
    /** Of the next attempt, or until when somebody has it. */
    dueAt: p.datetime(3).index(),
  },
});

/** Log of the commands of operators (application/ports/stores/operator-log.ts). */
export const OperatorActionTable = defineEntity({
  name: "OperatorAction",
  tableName: "operator_action",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    at: p.datetime(3),
    operator: p.string().length(255),
    command: p.string().length(64),
    /** A JSON object, as text. */
    arguments: p.text(),
    /** Null until the command has ended. */
    outcome: p.string().length(16).nullable(),
  },
});

export const SessionTable = defineEntity({
  name: "Session",
  tableName: "session",
  indexes: [{ name: "session_account_index", properties: ["accountId"] }],
  properties: {
    tokenSha256: p.string().length(64).primary(),
    accountId,
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index("session_expires_index"),
  },
});

export const PasswordLinkTable = defineEntity({
  name: "PasswordLink",
  tableName: "password_link",
  properties: {
    tokenSha256: p.string().length(64).primary(),
    /** Without a foreign key: most links open the account of their address. */
    email: p.string().length(254).index("password_link_email_index"),
    expiresAt: p.datetime(3).index("password_link_expires_index"),
  },
});

/** An endpoint without a URL is the account's default endpoint, for the URLs of single tasks. */
export const WebhookEndpointTable = defineEntity({
  name: "WebhookEndpoint",
  tableName: "webhook_endpoint",
  indexes: [
    { name: "webhook_endpoint_account_index", properties: ["accountId"] },
    // Partial: deleted endpoints stay until their last delivery is deleted.
    partialIndex("webhook_endpoint_listed_index", "webhook_endpoint (account_id, id)", LISTED_ENDPOINT),
    partialUnique("webhook_endpoint_default_unique", "webhook_endpoint (account_id)", "url is null"),
  ],
  properties: {
    id: p.string().length(40).primary(),
    accountId,
    url: p.text().nullable(),
    secret: p.string().length(80),
    previousSecret: p.string().length(80).nullable(),
    previousUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    failingSince: p.datetime(3).nullable(),
    offAt: p.datetime(3).nullable(),
    /** `deleted`: the row is deleted with its last delivery. */
    offReason: p.string().length(16).nullable(),
  },
});

/** Each after those that it refers to. */
export const ENTITY_TABLES = [
  AccountTable,
  ApiKeyTable,
  SessionTable,
  PasswordLinkTable,
  WebhookEndpointTable,
  OperatorActionTable,
  OutgoingEmailTable,
];
