import { defineEntity, type EntitySchema, p } from "@mikro-orm/core";
import {
  AWAITS_OPERATOR,
  ENDED_WITHOUT_PICTURE_AT,
  FAILED_IMAGE,
  HAS_TEXTS_TO_ERASE,
  HIDDEN,
  IN_GALLERY,
  LISTED_ENDPOINT,
  TO_BE_ERASED,
} from "./indexed-conditions.js";

/*
 * The tables as entities. The migrations make them from the texts in tables/; a test fails if the two differ. To change
 * a table before 3.0.0 is released, edit both. What the ORM cannot describe is in beyond-orm.ts.
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

export const OrderTable = defineEntity({
  name: "CreditOrder",
  tableName: "credit_order",
  checks: [{ name: "credit_order_credits_check", expression: "credits > 0" }],
  indexes: [
    { name: "credit_order_page_index", properties: ["accountId", "id"] },
    partialIndex("credit_order_pending_index", "credit_order (account_id, created_at)", "paid_at is null"),
    partialIndex("credit_order_paid_index", "credit_order (account_id)", "paid_at is not null"),
    partialIndex("credit_order_payment_index", "credit_order (payment_id)", "payment_id is not null"),
    partialIndex("credit_order_to_confirm_index", "credit_order (created_at)", AWAITS_OPERATOR),
    partialIndex("credit_order_waiting_index", "credit_order (id)", "paid_at is null"),
  ],
  properties: {
    id: p.string().length(40).primary(),
    accountId,
    credits: p.integer(),
    createdAt: p.datetime(3),
    /** Null while the order is pending. */
    paidAt: p.datetime(3).nullable(),
    /** Null, like the three after it, without a checkout of a payment service. */
    checkoutSession: p.text().nullable(),
    checkoutToken: p.text().nullable(),
    priceCents: p.integer().nullable(),
    currency: p.string().length(3).nullable(),
    /** The payment service's id of the payment. Null before it. */
    paymentId: p.string().length(255).nullable(),
    /** These follow from the rows of `payment_return` (domain/credits/payment-return.ts). */
    takenBack: p.integer().default(0),
    returned: p.string().length(16).default("paid"),
    dispute: p.string().length(16).default("none"),
    returnReason: p.string().length(200).nullable(),
  },
});

/**
 * Refunds and disputes (domain/credits/payment-return.ts). The order has the same payment, or is `orderId` if the
 * operator recorded the return by hand.
 */
export const PaymentReturnTable = defineEntity({
  name: "PaymentReturn",
  tableName: "payment_return",
  indexes: [
    { name: "payment_return_payment_index", properties: ["paymentId"] },
    { name: "payment_return_order_index", properties: ["orderId"] },
  ],
  properties: {
    /** The payment service's, or one that begins with `hand_`. */
    id: p.string().length(255).primary(),
    kind: p.string().length(16),
    paymentId: p.string().length(255).nullable(),
    orderId: () => refersTo(OrderTable, "order_id").nullable(),
    /** When it was created, or had this amount. */
    at: p.datetime(3).nullable(),
    cents: p.integer().nullable(),
    /** The credits that the operator took back, and the reason. */
    credits: p.integer().nullable(),
    reason: p.string().length(200).nullable(),
    /** These three are of a dispute; a refund with a date has failed then. */
    transfers: p.integer().nullable(),
    state: p.string().length(16).nullable(),
    stateAt: p.datetime(3).nullable(),
    recordedAt: p.datetime(3),
  },
});

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

/** Spending of a key per day: the sum of its tasks reserved that day and not refunded (domain/credits/budget.ts). */
export const KeySpendingTable = defineEntity({
  name: "KeySpending",
  tableName: "key_spending",
  properties: {
    apiKeyId: () => refersTo(ApiKeyTable, "api_key_id").primary(),
    /** `yyyymmdd`, in UTC. */
    day: p.integer().primary().autoincrement(false),
    credits: p.integer(),
  },
});

/** A task with its reservation, whose state follows from the task's. The columns of each state: task-rows.ts. */
export const TaskTable = defineEntity({
  name: "Task",
  tableName: "task",
  indexes: [
    { name: "task_account_index", properties: ["accountId", "id"] },
    // For an account's list and its filters (task-filters.ts). Partial: deleted tasks stay for ever.
    partialIndex("task_visible_index", "task (account_id, id)", "deleted_at is null"),
    partialIndex("task_filter_index", "task (account_id, state, visibility, id)", "deleted_at is null"),
    { name: "task_created_index", properties: ["accountId", "reservedAt"] },
    // Partial: the tasks without a picture whose texts are not erased yet, in the order in which they are.
    partialIndex("task_text_index", `task (${ENDED_WITHOUT_PICTURE_AT})`, HAS_TEXTS_TO_ERASE),
    // Partial: the cost of finding due work does not depend on the number of finished tasks.
    partialIndex("task_due_index", "task (state, due_at)", "due_at is not null"),
    // Partial, ordered by age: a gallery page reads only the rows that it shows.
    partialIndex("task_gallery_index", "task (id)", IN_GALLERY),
    // Partial: an operator's retry of all failed images does not read the others.
    partialIndex("task_failed_image_index", "task (id)", FAILED_IMAGE),
    // Each request for a stored image asks whether it may be shown, a creation whether it may be a reference.
    partialIndex("task_image_index", "task (image_name)", "image_name is not null"),
    partialIndex("task_hidden_url_index", "task (temporary_url)", HIDDEN),
    // Partial, in the order in which tasks start.
    partialIndex("task_queue_index", "task (turn, id)", "state = 'queued'"),
  ],
  properties: {
    id: p.string().length(40).primary(),
    accountId,
    slug: p.string().length(16).unique("task_slug_unique"),
    resolution: p.string().length(2),
    prompt: p.text().nullable(),
    imageUrls: p.json<string[]>(),
    visibility: p.string().length(7),
    seed: p.integer().nullable(),
    /** Null if there is none. `task_metadata` has the same pairs. */
    metadata: p.json<Record<string, string>>().nullable(),
    credits: p.integer(),
    state: p.string().length(16),
    reservedAt: p.datetime(3),
    submittedAt: p.datetime(3).nullable(),
    upstreamTaskId: p.text().nullable(),
    succeededAt: p.datetime(3).nullable(),
    failedAt: p.datetime(3).nullable(),
    failureReason: p.string().length(32).nullable(),
    /** The reference image that caused the failure, counted from 0; null if unknown. */
    failureImage: p.integer().nullable(),
    /** The problem of this image, in the words for the customer. */
    failureImageProblem: p.string().length(200).nullable(),
    storageStatus: p.string().length(16).nullable(),
    temporaryUrl: p.text().nullable(),
    imageName: p.string().length(128).nullable(),
    failedAttempts: p.integer().nullable(),
    /** The size of the provider's result. */
    nativeWidth: p.integer().nullable(),
    nativeHeight: p.integer().nullable(),
    /** How the result was made (domain/images/source-type.ts); null for tasks from before this column. */
    sourceType: p.string().length(40).nullable(),
    /** Measurements of the result (domain/images/picture.ts), as JSON; null if none was decoded. */
    resultFigures: p.text().nullable(),
    /** When the next work on it is due. Of a leased task: before `leasedUntil` if somebody has wanted it meanwhile. */
    dueAt: p.datetime(3).nullable(),
    fence: p.integer(),
    /** The turn in the queue (domain/tasks/queue.ts); null if it was never queued. */
    turn: p.integer().nullable(),
    /** A waiting task is not started before: the provider has asked for a pause. */
    startAt: p.datetime(3).nullable(),
    /** Number of returns to the queue. Together with `state` it identifies the version of an active task. */
    submissions: p.integer().default(0),
    /** The place of the provider whose slot it holds or has held (domain/tasks/queue.ts). */
    place: p.text().nullable(),
    /** The key that created it. Without a foreign key: each creation would lock the row of its key. */
    apiKeyId: p.string().length(40).nullable(),
    /** Set when the owner deletes the panorama. Then only the ledger and the idempotency keys refer to the task. */
    deletedAt: p.datetime(3).nullable(),
    /** Set when prompt, image URLs and metadata of a task without a picture are erased. */
    textsErasedAt: p.datetime(3).nullable(),
    webhookUrl: p.text().nullable(),
    traceparent: p.string().length(55).nullable(),
    /** Until when a worker has the task, unless it gives it back. */
    leasedUntil: p.datetime(3).nullable(),
    /** Times of the owner's cancel request and of the provider's refusal (domain/tasks/cancel-request.ts). */
    cancelWantedAt: p.datetime(3).nullable(),
    cancelRefusedAt: p.datetime(3).nullable(),
    /** True if the search index has it (search-rows.ts). */
    inSearch: p.boolean().default(false),
    /** When it left the queue, its result was there, its image was stored and expired. */
    startedAt: p.datetime(3).nullable(),
    generatedAt: p.datetime(3).nullable(),
    savedAt: p.datetime(3).nullable(),
    expiredAt: p.datetime(3).nullable(),
    /** Failure details of the provider or the service, for operators. */
    failureDetail: p.text().nullable(),
    /** The one who deleted it (domain/tasks/out-of-sight.ts). */
    deletedBy: p.string().length(64).nullable(),
    /** When an operator has hidden it from everybody but its owner, why, and who. */
    hiddenAt: p.datetime(3).nullable(),
    hiddenReason: p.string().length(200).nullable(),
    hiddenBy: p.string().length(100).nullable(),
    /** Of a hidden one: the visibility that its owner chose, which it gets back. */
    chosenVisibility: p.string().length(7).nullable(),
    /** The name that its stored files are being given (domain/images/storage-status.ts). */
    nextImageName: p.string().length(128).nullable(),
  },
});

/** Has exactly one row. It is locked while a task is queued or started (domain/tasks/queue.ts). */
export const TaskQueueTable = defineEntity({
  name: "TaskQueue",
  tableName: "task_queue",
  properties: { id: p.integer().primary().autoincrement(false), round: p.integer() },
});

const taskId = () => refersTo(TaskTable, "task_id");

/**
 * Append-only: triggers (migration-steps.ts) reject updates and deletes. Unique keys allow one reservation and one
 * refund per task, and one purchase per order.
 */
export const LedgerEntryTable = defineEntity({
  name: "LedgerEntry",
  tableName: "ledger_entry",
  indexes: [
    { name: "ledger_entry_account_index", properties: ["accountId", "id"] },
    partialUnique("ledger_entry_purchase_unique", "ledger_entry (order_id)", "kind = 'purchase'"),
    partialUnique("ledger_entry_reference_unique", "ledger_entry (account_id, reference)", "reference is not null"),
  ],
  uniques: [{ name: "ledger_entry_task_unique", properties: ["taskId", "kind"] }],
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    accountId,
    kind: p.string().length(16),
    credits: p.integer(),
    taskId: () => taskId().nullable(),
    orderId: () => refersTo(OrderTable, "order_id").nullable(),
    at: p.datetime(3),
    /** Of an adjustment. */
    reason: p.string().length(200).nullable(),
    /** Of an adjustment that is written once. */
    reference: p.string().length(100).nullable(),
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

export const IdempotencyKeyTable = defineEntity({
  name: "IdempotencyKey",
  tableName: "idempotency_key",
  indexes: [{ name: "idempotency_key_task_index", properties: ["taskId"] }],
  properties: {
    accountId: () => accountId().primary(),
    key: p.string().length(255).primary(),
    taskId,
    requestSha256: p.string().length(64),
    createdAt: p.datetime(3).index("idempotency_key_created_index"),
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

/** An uploaded image. After its object is deleted, the row is deleted too. */
export const ReferenceImageTable = defineEntity({
  name: "ReferenceImage",
  tableName: "reference_image",
  indexes: [
    // Equal contents share one object, until it is to be deleted.
    partialUnique("reference_image_content_unique", "reference_image (content)", "delete_at is null"),
    partialIndex("reference_image_deletable_index", "reference_image (delete_at)", "delete_at is not null"),
  ],
  properties: {
    /** The name of the object. */
    name: p.string().length(128).primary(),
    /** SHA-256 and type. */
    content: p.string().length(80),
    bytes: p.integer(),
    /** When the next attempt to delete the object is due; null while anything may refer to it. */
    deleteAt: p.datetime(3).nullable(),
  },
});

const referenceName = () => refersTo(ReferenceImageTable, "name");

/** An account has uploaded the image, and no task of it has used it since. */
export const ReferenceUploadTable = defineEntity({
  name: "ReferenceUpload",
  tableName: "reference_upload",
  indexes: [
    { name: "reference_upload_age_index", properties: ["uploadedAt"] },
    { name: "reference_upload_name_index", properties: ["name"] },
  ],
  properties: {
    accountId: () => accountId().primary(),
    name: () => referenceName().primary(),
    uploadedAt: p.datetime(3),
  },
});

/** A task that is active or has succeeded uses the image. */
export const TaskReferenceTable = defineEntity({
  name: "TaskReference",
  tableName: "task_reference",
  indexes: [{ name: "task_reference_name_index", properties: ["name"] }],
  properties: {
    taskId: () => taskId().primary(),
    name: () => referenceName().primary(),
  },
});

/** The pairs of a task's metadata, for the filters of an account's list: each filter is one range, newest task last. */
export const TaskMetadataTable = defineEntity({
  name: "TaskMetadata",
  tableName: "task_metadata",
  properties: {
    accountId: () => accountId().primary(),
    key: p.string().length(40).primary(),
    value: p.string().length(500).primary(),
    taskId: () => taskId().primary(),
  },
});

/** Events of accounts: the outbox of webhooks and streams. Each task causes each type at most once. */
export const EventTable = defineEntity({
  name: "Event",
  tableName: "event",
  uniques: [{ name: "event_task_unique", properties: ["taskId", "type"] }],
  properties: {
    accountId: () => accountId().primary(),
    /** Counts the events of the account, without gaps. */
    number: p.integer().primary().autoincrement(false),
    type: p.string().length(32),
    taskId: () => taskId().nullable(),
    /** The remaining credits, of an event that is not about a task. */
    credits: p.integer().nullable(),
    at: p.datetime(3).index("event_age_index"),
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

/** An event, by account and number, on its way to one endpoint. The event is deleted after its deliveries. */
export const WebhookDeliveryTable = defineEntity({
  name: "WebhookDelivery",
  tableName: "webhook_delivery",
  indexes: [
    { name: "webhook_delivery_account_index", properties: ["accountId", "number"] },
    { name: "webhook_delivery_page_index", properties: ["accountId", "id"] },
    { name: "webhook_delivery_endpoint_index", properties: ["endpointId"] },
    // Partial: finished deliveries cost the next claim nothing.
    partialIndex("webhook_delivery_due_index", "webhook_delivery (due_at)", "due_at is not null"),
    partialIndex("webhook_delivery_lane_index", "webhook_delivery (lane, due_at)", "due_at is not null"),
    partialIndex("webhook_delivery_task_index", "webhook_delivery (task_id, lane)", "due_at is not null"),
  ],
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    endpointId: () => refersTo(WebhookEndpointTable, "endpoint_id"),
    accountId: p.string().length(40),
    number: p.integer(),
    taskId: p.string().length(40).nullable(),
    /** Name of the receiver: deliveries with the same lane share a limit. */
    lane: p.text(),
    state: p.string().length(16),
    attempts: p.integer(),
    firstAttemptAt: p.datetime(3).nullable(),
    detail: p.text().nullable(),
    endedAt: p.datetime(3).nullable(),
    /**
     * When the next attempt is due; null unless it is pending. During an attempt, earlier than `leasedUntil` if it was
     * sent again meanwhile.
     */
    dueAt: p.datetime(3).nullable(),
    fence: p.integer(),
    /** Until when a worker attempts it, unless it records the result earlier. */
    leasedUntil: p.datetime(3).nullable(),
  },
});

/**
 * Results of recent webhooks to a lane, or to an origin without a confirmed lane (domain/webhooks/webhook-receiver.ts).
 */
export const WebhookReceiverTable = defineEntity({
  name: "WebhookReceiver",
  tableName: "webhook_receiver",
  indexes: [
    { name: "webhook_receiver_next_index", properties: ["nextAt"] },
    partialIndex("webhook_receiver_leased_index", "webhook_receiver (leased_until)", "leased_until is not null"),
  ],
  properties: {
    name: p.text().primary(),
    verifiedAt: p.datetime(3).nullable(),
    failures: p.integer(),
    /** During the only attempt, earlier than `leasedUntil` if somebody has wanted the next one at once. */
    nextAt: p.datetime(3),
    /** Until when the only attempt has the lane or the origin, unless its result is recorded earlier. */
    leasedUntil: p.datetime(3).nullable(),
  },
});

/** Secrets that all instances of an installation share. */
export const InstallationSecretTable = defineEntity({
  name: "InstallationSecret",
  tableName: "installation_secret",
  properties: { name: p.string().length(64).primary(), value: p.text() },
});

export const tables = [
  AccountTable,
  OrderTable,
  PaymentReturnTable,
  ApiKeyTable,
  KeySpendingTable,
  TaskTable,
  TaskQueueTable,
  LedgerEntryTable,
  IdempotencyKeyTable,
  SessionTable,
  PasswordLinkTable,
  ReferenceImageTable,
  ReferenceUploadTable,
  TaskReferenceTable,
  TaskMetadataTable,
  EventTable,
  WebhookEndpointTable,
  WebhookDeliveryTable,
  WebhookReceiverTable,
  OperatorActionTable,
  OutgoingEmailTable,
  InstallationSecretTable,
];
