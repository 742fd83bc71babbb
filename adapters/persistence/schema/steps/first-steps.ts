import type { Step } from "./step.js";

/** The indexes of 021, the same in both dialects. */
const GROWTH_INDEXES: readonly string[] = [
  `drop index "task_status_index"`,
  `drop index task_public_index`,
  `create index task_visible_index on task (account_id, id) where hidden_at is null`,
  `create index task_filter_index on task (account_id, state, visibility, id) where hidden_at is null`,
  `create index task_text_index on task (coalesce(hidden_at, failed_at)) where (state = 'failed' or hidden_at is not null) and texts_erased_at is null`,
  `create index api_key_live_index on api_key (account_id) where revoked_at is null`,
  `create index credit_order_paid_index on credit_order (account_id) where paid_at is not null`,
  `create index webhook_endpoint_listed_index on webhook_endpoint (account_id, id) where (off_reason is null or off_reason <> 'deleted')`,
  `create index "webhook_delivery_page_index" on "webhook_delivery" ("account_id", "id")`,
];

/** What the trigger of 021 has not counted. */
const GROWTH_SUMS: readonly string[] = [
  `update account set granted = sums.granted from (
    select account_id, sum(credits) as granted from ledger_entry where kind not in ('reservation', 'refund') group by account_id
  ) as sums where account.id = sums.account_id`,
];

/** The steps of 1.0.0 and 2.0.0, and of 024 and 025. */
export const firstSteps: readonly Step[] = [
  {
    name: "001-tables",
    up: {
      sqlite: [
        `create table "account" (
        "id" text not null,
        "email" text not null,
        "password_hash" text null,
        "credits" integer not null,
        "active_tasks" integer not null,
        "created_at" datetime not null,
        primary key ("id"),
        constraint account_credits_check check (credits >= 0),
        constraint account_active_tasks_check check (active_tasks >= 0)
      )`,
        `create unique index "account_email_unique" on "account" ("email")`,
        `create table "api_key" (
        "id" text not null,
        "account_id" text not null,
        "name" text not null,
        "secret_sha256" text not null,
        "created_at" datetime not null,
        "revoked_at" datetime null,
        constraint "api_key_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        primary key ("id")
      )`,
        `create unique index "api_key_secret_unique" on "api_key" ("secret_sha256")`,
        `create index "api_key_account_index" on "api_key" ("account_id")`,
        `create table "credit_order" (
        "id" text not null,
        "account_id" text not null,
        "credits" integer not null,
        "created_at" datetime not null,
        "paid_at" datetime null,
        constraint "credit_order_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        primary key ("id"),
        constraint credit_order_credits_check check (credits > 0)
      )`,
        `create index "credit_order_account_index" on "credit_order" ("account_id")`,
        `create table "task" (
        "id" text not null,
        "account_id" text not null,
        "slug" text not null,
        "resolution" text not null,
        "prompt" text null,
        "image_urls" json not null,
        "visibility" text not null,
        "credits" integer not null,
        "state" text not null,
        "reserved_at" datetime not null,
        "submitted_at" datetime null,
        "upstream_task_id" text null,
        "succeeded_at" datetime null,
        "failed_at" datetime null,
        "failure_reason" text null,
        "storage_status" text null,
        "temporary_url" text null,
        "image_name" text null,
        "failed_attempts" integer null,
        "due_at" datetime null,
        "fence" integer not null,
        constraint "task_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        primary key ("id")
      )`,
        `create unique index "task_slug_unique" on "task" ("slug")`,
        `create index "task_account_index" on "task" ("account_id", "id")`,
        `create index task_due_index on task (state, due_at) where due_at is not null`,
        `create table "ledger_entry" (
        "id" integer not null primary key autoincrement,
        "account_id" text not null,
        "kind" text not null,
        "credits" integer not null,
        "task_id" text null,
        "order_id" text null,
        "at" datetime not null,
        constraint "ledger_entry_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        constraint "ledger_entry_task_id_foreign" foreign key("task_id") references "task"("id") on delete restrict on update restrict,
        constraint "ledger_entry_order_id_foreign" foreign key("order_id") references "credit_order"("id") on delete restrict on update restrict
      )`,
        `create index "ledger_entry_account_index" on "ledger_entry" ("account_id", "id")`,
        `create unique index "ledger_entry_task_unique" on "ledger_entry" ("task_id", "kind")`,
        `create unique index "ledger_entry_order_unique" on "ledger_entry" ("order_id", "kind")`,
        `create table "idempotency_key" (
        "account_id" text not null,
        "key" text not null,
        "task_id" text not null,
        "request_sha256" text not null,
        "created_at" datetime not null,
        constraint "idempotency_key_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        constraint "idempotency_key_task_id_foreign" foreign key("task_id") references "task"("id") on delete restrict on update restrict,
        primary key ("account_id", "key")
      )`,
        `create index "idempotency_key_created_index" on "idempotency_key" ("created_at")`,
        `create index "idempotency_key_task_index" on "idempotency_key" ("task_id")`,
        // Make the ledger append-only for every writer.
        `create trigger ledger_entry_no_update before update on ledger_entry
          begin select raise(abort, 'the ledger is append-only'); end`,
        `create trigger ledger_entry_no_delete before delete on ledger_entry
          begin select raise(abort, 'the ledger is append-only'); end`,
      ],
      postgresql: [
        `create table "account" (
        "id" varchar(40) not null,
        "email" varchar(254) not null,
        "password_hash" varchar(255) null,
        "credits" int not null,
        "active_tasks" int not null,
        "created_at" timestamptz(3) not null,
        constraint "account_pkey" primary key ("id"),
        constraint account_credits_check check (credits >= 0),
        constraint account_active_tasks_check check (active_tasks >= 0)
      )`,
        `alter table "account" add constraint "account_email_unique" unique ("email")`,
        `create table "api_key" (
        "id" varchar(40) not null,
        "account_id" varchar(40) not null,
        "name" varchar(80) not null,
        "secret_sha256" varchar(64) not null,
        "created_at" timestamptz(3) not null,
        "revoked_at" timestamptz(3) null,
        constraint "api_key_pkey" primary key ("id")
      )`,
        `alter table "api_key" add constraint "api_key_secret_unique" unique ("secret_sha256")`,
        `create index "api_key_account_index" on "api_key" ("account_id")`,
        `create table "credit_order" (
        "id" varchar(40) not null,
        "account_id" varchar(40) not null,
        "credits" int not null,
        "created_at" timestamptz(3) not null,
        "paid_at" timestamptz(3) null,
        constraint "credit_order_pkey" primary key ("id"),
        constraint credit_order_credits_check check (credits > 0)
      )`,
        `create index "credit_order_account_index" on "credit_order" ("account_id")`,
        `create table "task" (
        "id" varchar(40) not null,
        "account_id" varchar(40) not null,
        "slug" varchar(16) not null,
        "resolution" varchar(2) not null,
        "prompt" text null,
        "image_urls" jsonb not null,
        "visibility" varchar(7) not null,
        "credits" int not null,
        "state" varchar(16) not null,
        "reserved_at" timestamptz(3) not null,
        "submitted_at" timestamptz(3) null,
        "upstream_task_id" text null,
        "succeeded_at" timestamptz(3) null,
        "failed_at" timestamptz(3) null,
        "failure_reason" varchar(32) null,
        "storage_status" varchar(16) null,
        "temporary_url" text null,
        "image_name" varchar(128) null,
        "failed_attempts" int null,
        "due_at" timestamptz(3) null,
        "fence" int not null,
        constraint "task_pkey" primary key ("id")
      )`,
        `alter table "task" add constraint "task_slug_unique" unique ("slug")`,
        `create index "task_account_index" on "task" ("account_id", "id")`,
        `create index task_due_index on task (state, due_at) where due_at is not null`,
        `create table "ledger_entry" (
        "id" serial primary key,
        "account_id" varchar(40) not null,
        "kind" varchar(16) not null,
        "credits" int not null,
        "task_id" varchar(40) null,
        "order_id" varchar(40) null,
        "at" timestamptz(3) not null
      )`,
        `create index "ledger_entry_account_index" on "ledger_entry" ("account_id", "id")`,
        `alter table "ledger_entry" add constraint "ledger_entry_task_unique" unique ("task_id", "kind")`,
        `alter table "ledger_entry" add constraint "ledger_entry_order_unique" unique ("order_id", "kind")`,
        `create table "idempotency_key" (
        "account_id" varchar(40) not null,
        "key" varchar(255) not null,
        "task_id" varchar(40) not null,
        "request_sha256" varchar(64) not null,
        "created_at" timestamptz(3) not null,
        constraint "idempotency_key_pkey" primary key ("account_id", "key")
      )`,
        `create index "idempotency_key_created_index" on "idempotency_key" ("created_at")`,
        `create index "idempotency_key_task_index" on "idempotency_key" ("task_id")`,
        `alter table "api_key" add constraint "api_key_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "credit_order" add constraint "credit_order_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "task" add constraint "task_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "ledger_entry" add constraint "ledger_entry_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "ledger_entry" add constraint "ledger_entry_task_id_foreign" foreign key ("task_id") references "task" ("id") on update restrict on delete restrict`,
        `alter table "ledger_entry" add constraint "ledger_entry_order_id_foreign" foreign key ("order_id") references "credit_order" ("id") on update restrict on delete restrict`,
        `alter table "idempotency_key" add constraint "idempotency_key_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "idempotency_key" add constraint "idempotency_key_task_id_foreign" foreign key ("task_id") references "task" ("id") on update restrict on delete restrict`,
        `create function refuse_ledger_change() returns trigger language plpgsql
          as $$ begin raise exception 'the ledger is append-only'; end $$`,
        `create trigger ledger_entry_no_change before update or delete or truncate on ledger_entry
          for each statement execute function refuse_ledger_change()`,
      ],
    },
  },
  {
    name: "002-shared-rate-limits",
    up: {
      sqlite: [], // there is only one instance, which counts in memory
      postgresql: [
        // Unlogged: it is written with every request and expires after a minute. Half-filled pages allow in-place
        // updates.
        `create unlogged table rate_limit (
        api_key_id varchar(40) not null,
        kind varchar(5) not null,
        admissions bigint[] not null,
        admitted boolean not null,
        constraint rate_limit_pkey primary key (api_key_id, kind)
      ) with (fillfactor = 50)`,
      ],
    },
  },
  {
    name: "003-web",
    up: {
      sqlite: [
        `create table "session" (
        "token_sha256" text not null,
        "account_id" text not null,
        "created_at" datetime not null,
        "expires_at" datetime not null,
        constraint "session_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        primary key ("token_sha256")
      )`,
        `create index "session_expires_index" on "session" ("expires_at")`,
        `alter table "task" add column "hidden_at" datetime null`,
        `create index task_gallery_index on task (id) where visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null`,
      ],
      postgresql: [
        `create table "session" (
        "token_sha256" varchar(64) not null,
        "account_id" varchar(40) not null,
        "created_at" timestamptz(3) not null,
        "expires_at" timestamptz(3) not null,
        constraint "session_pkey" primary key ("token_sha256")
      )`,
        `create index "session_expires_index" on "session" ("expires_at")`,
        `alter table "session" add constraint "session_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "task" add column "hidden_at" timestamptz(3) null`,
        `create index task_gallery_index on task (id) where visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null`,
      ],
    },
  },
  {
    name: "004-queue",
    up: {
      sqlite: [
        `alter table "account" add column "last_turn" integer not null default 0`,
        `alter table "task" add column "turn" integer null`,
        `create index task_queue_index on task (turn, id) where state = 'queued'`,
        `create table "task_queue" ("id" integer not null, "round" integer not null, primary key ("id"))`,
        `insert into "task_queue" ("id", "round") values (1, 1)`,
      ],
      postgresql: [
        `alter table "account" add column "last_turn" int not null default 0`,
        `alter table "task" add column "turn" int null`,
        `create index task_queue_index on task (turn, id) where state = 'queued'`,
        `create table "task_queue" ("id" int not null, "round" int not null, constraint "task_queue_pkey" primary key ("id"))`,
        `insert into "task_queue" ("id", "round") values (1, 1)`,
      ],
    },
  },
  {
    name: "005-long-ledger",
    up: {
      sqlite: [], // SQLite integers have 64 bits
      postgresql: [
        `alter table "ledger_entry" alter column "id" type bigint`,
        `alter sequence "ledger_entry_id_seq" as bigint`,
      ],
    },
  },
  {
    name: "006-password-links",
    up: {
      sqlite: [
        `create table "password_link" (
        "token_sha256" text not null,
        "email" text not null,
        "expires_at" datetime not null,
        primary key ("token_sha256")
      )`,
        `create index "password_link_email_index" on "password_link" ("email")`,
        `create index "password_link_expires_index" on "password_link" ("expires_at")`,
        `create index "session_account_index" on "session" ("account_id")`,
      ],
      postgresql: [
        `create table "password_link" (
        "token_sha256" varchar(64) not null,
        "email" varchar(254) not null,
        "expires_at" timestamptz(3) not null,
        constraint "password_link_pkey" primary key ("token_sha256")
      )`,
        `create index "password_link_email_index" on "password_link" ("email")`,
        `create index "password_link_expires_index" on "password_link" ("expires_at")`,
        `create index "session_account_index" on "session" ("account_id")`,
        `alter table "rate_limit" alter column "kind" type varchar(32)`,
      ],
    },
  },
  {
    name: "007-failed-images",
    up: {
      sqlite: [
        `create index task_failed_image_index on task (id) where state = 'succeeded' and storage_status = 'failed' and hidden_at is null`,
      ],
      postgresql: [
        `create index task_failed_image_index on task (id) where state = 'succeeded' and storage_status = 'failed' and hidden_at is null`,
      ],
    },
  },
  {
    name: "008-account-limits",
    up: {
      sqlite: [
        `drop index "credit_order_account_index"`,
        `create index "credit_order_page_index" on "credit_order" ("account_id", "id")`,
        `create index credit_order_pending_index on credit_order (account_id, created_at) where paid_at is null`,
        `create table "reference_image" (
        "name" text not null,
        "content" text not null,
        "bytes" integer not null,
        "delete_at" datetime null,
        primary key ("name")
      )`,
        `create unique index reference_image_content_unique on reference_image (content) where delete_at is null`,
        `create index reference_image_deletable_index on reference_image (delete_at) where delete_at is not null`,
        `create table "reference_upload" (
        "account_id" text not null,
        "name" text not null,
        "uploaded_at" datetime not null,
        constraint "reference_upload_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        constraint "reference_upload_name_foreign" foreign key("name") references "reference_image"("name") on delete restrict on update restrict,
        primary key ("account_id", "name")
      )`,
        `create index "reference_upload_age_index" on "reference_upload" ("uploaded_at")`,
        `create index "reference_upload_name_index" on "reference_upload" ("name")`,
        `create table "task_reference" (
        "task_id" text not null,
        "name" text not null,
        constraint "task_reference_task_id_foreign" foreign key("task_id") references "task"("id") on delete restrict on update restrict,
        constraint "task_reference_name_foreign" foreign key("name") references "reference_image"("name") on delete restrict on update restrict,
        primary key ("task_id", "name")
      )`,
        `create index "task_reference_name_index" on "task_reference" ("name")`,
      ],
      postgresql: [
        `drop index "credit_order_account_index"`,
        `create index "credit_order_page_index" on "credit_order" ("account_id", "id")`,
        `create index credit_order_pending_index on credit_order (account_id, created_at) where paid_at is null`,
        `create table "reference_image" (
        "name" varchar(128) not null,
        "content" varchar(80) not null,
        "bytes" int not null,
        "delete_at" timestamptz(3) null,
        constraint "reference_image_pkey" primary key ("name")
      )`,
        `create unique index reference_image_content_unique on reference_image (content) where delete_at is null`,
        `create index reference_image_deletable_index on reference_image (delete_at) where delete_at is not null`,
        `create table "reference_upload" (
        "account_id" varchar(40) not null,
        "name" varchar(128) not null,
        "uploaded_at" timestamptz(3) not null,
        constraint "reference_upload_pkey" primary key ("account_id", "name")
      )`,
        `create index "reference_upload_age_index" on "reference_upload" ("uploaded_at")`,
        `create index "reference_upload_name_index" on "reference_upload" ("name")`,
        `create table "task_reference" (
        "task_id" varchar(40) not null,
        "name" varchar(128) not null,
        constraint "task_reference_pkey" primary key ("task_id", "name")
      )`,
        `create index "task_reference_name_index" on "task_reference" ("name")`,
        `alter table "reference_upload" add constraint "reference_upload_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "reference_upload" add constraint "reference_upload_name_foreign" foreign key ("name") references "reference_image" ("name") on update restrict on delete restrict`,
        `alter table "task_reference" add constraint "task_reference_task_id_foreign" foreign key ("task_id") references "task" ("id") on update restrict on delete restrict`,
        `alter table "task_reference" add constraint "task_reference_name_foreign" foreign key ("name") references "reference_image" ("name") on update restrict on delete restrict`,
      ],
    },
  },
  {
    name: "009-task-submissions",
    up: {
      sqlite: [`alter table "task" add column "submissions" integer not null default 0`],
      postgresql: [`alter table "task" add column "submissions" int not null default 0`],
    },
  },
  {
    name: "010-native-size",
    up: {
      sqlite: [
        `alter table "task" add column "native_width" integer null`,
        `alter table "task" add column "native_height" integer null`,
      ],
      postgresql: [`alter table "task" add column "native_width" int null, add column "native_height" int null`],
    },
  },
  {
    name: "011-key-limits",
    up: {
      sqlite: [
        `alter table "account" add column "low_balance_threshold" integer null`,
        `alter table "api_key" add column "scopes" text not null default 'read,create'`,
        `alter table "api_key" add column "expires_at" datetime null`,
        `alter table "api_key" add column "credits_per_day" integer null`,
        `alter table "api_key" add column "credits_per_month" integer null`,
        `alter table "api_key" add column "last_used_at" datetime null`,
        `alter table "task" add column "api_key_id" text null`,
        `create table "key_spending" (
        "api_key_id" text not null,
        "day" integer not null,
        "credits" integer not null,
        constraint "key_spending_api_key_id_foreign" foreign key("api_key_id") references "api_key"("id") on delete restrict on update restrict,
        primary key ("api_key_id", "day")
      )`,
      ],
      postgresql: [
        `alter table "account" add column "low_balance_threshold" int null`,
        `alter table "api_key" add column "scopes" varchar(64) not null default 'read,create'`,
        `alter table "api_key" add column "expires_at" timestamptz(3) null`,
        `alter table "api_key" add column "credits_per_day" int null`,
        `alter table "api_key" add column "credits_per_month" int null`,
        `alter table "api_key" add column "last_used_at" timestamptz(3) null`,
        `alter table "task" add column "api_key_id" varchar(40) null`,
        `create table "key_spending" (
        "api_key_id" varchar(40) not null,
        "day" int not null,
        "credits" int not null,
        constraint "key_spending_pkey" primary key ("api_key_id", "day")
      )`,
        `alter table "key_spending" add constraint "key_spending_api_key_id_foreign" foreign key ("api_key_id") references "api_key" ("id") on update restrict on delete restrict`,
      ],
    },
  },
  {
    name: "012-task-fields",
    up: {
      sqlite: [
        `alter table "task" add column "seed" integer null`,
        `alter table "task" add column "metadata" json null`,
        `create index "task_status_index" on "task" ("account_id", "state", "id")`,
        `create index "task_created_index" on "task" ("account_id", "reserved_at")`,
        `create index task_public_index on task (account_id, id) where visibility = 'public'`,
        `create table "task_metadata" (
        "account_id" text not null,
        "key" text not null,
        "value" text not null,
        "task_id" text not null,
        constraint "task_metadata_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        constraint "task_metadata_task_id_foreign" foreign key("task_id") references "task"("id") on delete restrict on update restrict,
        primary key ("account_id", "key", "value", "task_id")
      )`,
      ],
      postgresql: [
        `alter table "task" add column "seed" int null, add column "metadata" jsonb null`,
        `create index "task_status_index" on "task" ("account_id", "state", "id")`,
        `create index "task_created_index" on "task" ("account_id", "reserved_at")`,
        `create index task_public_index on task (account_id, id) where visibility = 'public'`,
        `create table "task_metadata" (
        "account_id" varchar(40) not null,
        "key" varchar(40) not null,
        "value" varchar(500) not null,
        "task_id" varchar(40) not null,
        constraint "task_metadata_pkey" primary key ("account_id", "key", "value", "task_id")
      )`,
        `alter table "task_metadata" add constraint "task_metadata_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "task_metadata" add constraint "task_metadata_task_id_foreign" foreign key ("task_id") references "task" ("id") on update restrict on delete restrict`,
      ],
    },
  },
  {
    name: "013-outbox",
    up: {
      sqlite: [
        `alter table "account" add column "last_event" integer not null default 0`,
        `alter table "task" add column "webhook_url" text null`,
        `create table "event" (
        "account_id" text not null,
        "number" integer not null,
        "type" text not null,
        "task_id" text null,
        "credits" integer null,
        "at" datetime not null,
        constraint "event_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        constraint "event_task_id_foreign" foreign key("task_id") references "task"("id") on delete restrict on update restrict,
        primary key ("account_id", "number")
      )`,
        `create index "event_age_index" on "event" ("at")`,
        `create unique index "event_task_unique" on "event" ("task_id", "type")`,
        `create table "webhook_endpoint" (
        "id" text not null,
        "account_id" text not null,
        "url" text null,
        "secret" text not null,
        "previous_secret" text null,
        "previous_until" datetime null,
        "created_at" datetime not null,
        "failing_since" datetime null,
        "off_at" datetime null,
        "off_reason" text null,
        constraint "webhook_endpoint_account_id_foreign" foreign key("account_id") references "account"("id") on delete restrict on update restrict,
        primary key ("id")
      )`,
        `create index "webhook_endpoint_account_index" on "webhook_endpoint" ("account_id")`,
        `create unique index webhook_endpoint_default_unique on webhook_endpoint (account_id) where url is null`,
        `create table "webhook_delivery" (
        "id" integer not null primary key autoincrement,
        "endpoint_id" text not null,
        "account_id" text not null,
        "number" integer not null,
        "task_id" text null,
        "lane" text not null,
        "state" text not null,
        "attempts" integer not null,
        "first_attempt_at" datetime null,
        "detail" text null,
        "ended_at" datetime null,
        "due_at" datetime null,
        "fence" integer not null,
        constraint "webhook_delivery_endpoint_id_foreign" foreign key("endpoint_id") references "webhook_endpoint"("id") on delete restrict on update restrict
      )`,
        `create index "webhook_delivery_account_index" on "webhook_delivery" ("account_id", "number")`,
        `create index "webhook_delivery_endpoint_index" on "webhook_delivery" ("endpoint_id")`,
        `create index webhook_delivery_due_index on webhook_delivery (due_at) where due_at is not null`,
        `create index webhook_delivery_lane_index on webhook_delivery (lane, due_at) where due_at is not null`,
        `create index webhook_delivery_task_index on webhook_delivery (task_id, lane) where due_at is not null`,
      ],
      postgresql: [
        `alter table "account" add column "last_event" int not null default 0`,
        `alter table "task" add column "webhook_url" text null`,
        `create table "event" (
        "account_id" varchar(40) not null,
        "number" int not null,
        "type" varchar(32) not null,
        "task_id" varchar(40) null,
        "credits" int null,
        "at" timestamptz(3) not null,
        constraint "event_pkey" primary key ("account_id", "number")
      )`,
        `create index "event_age_index" on "event" ("at")`,
        `alter table "event" add constraint "event_task_unique" unique ("task_id", "type")`,
        `create table "webhook_endpoint" (
        "id" varchar(40) not null,
        "account_id" varchar(40) not null,
        "url" text null,
        "secret" varchar(80) not null,
        "previous_secret" varchar(80) null,
        "previous_until" timestamptz(3) null,
        "created_at" timestamptz(3) not null,
        "failing_since" timestamptz(3) null,
        "off_at" timestamptz(3) null,
        "off_reason" varchar(16) null,
        constraint "webhook_endpoint_pkey" primary key ("id")
      )`,
        `create index "webhook_endpoint_account_index" on "webhook_endpoint" ("account_id")`,
        `create unique index webhook_endpoint_default_unique on webhook_endpoint (account_id) where url is null`,
        `create table "webhook_delivery" (
        "id" bigserial primary key,
        "endpoint_id" varchar(40) not null,
        "account_id" varchar(40) not null,
        "number" int not null,
        "task_id" varchar(40) null,
        "lane" text not null,
        "state" varchar(16) not null,
        "attempts" int not null,
        "first_attempt_at" timestamptz(3) null,
        "detail" text null,
        "ended_at" timestamptz(3) null,
        "due_at" timestamptz(3) null,
        "fence" int not null
      )`,
        `create index "webhook_delivery_account_index" on "webhook_delivery" ("account_id", "number")`,
        `create index "webhook_delivery_endpoint_index" on "webhook_delivery" ("endpoint_id")`,
        `create index webhook_delivery_due_index on webhook_delivery (due_at) where due_at is not null`,
        `create index webhook_delivery_lane_index on webhook_delivery (lane, due_at) where due_at is not null`,
        `create index webhook_delivery_task_index on webhook_delivery (task_id, lane) where due_at is not null`,
        `alter table "event" add constraint "event_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "event" add constraint "event_task_id_foreign" foreign key ("task_id") references "task" ("id") on update restrict on delete restrict`,
        `alter table "webhook_endpoint" add constraint "webhook_endpoint_account_id_foreign" foreign key ("account_id") references "account" ("id") on update restrict on delete restrict`,
        `alter table "webhook_delivery" add constraint "webhook_delivery_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoint" ("id") on update restrict on delete restrict`,
      ],
    },
  },
  {
    name: "014-places",
    up: {
      sqlite: [`alter table "task" add column "place" text null`],
      postgresql: [`alter table "task" add column "place" text null`],
    },
  },
  {
    name: "015-operators",
    up: {
      sqlite: [
        `alter table "account" add column "closed_at" datetime null`,
        `alter table "ledger_entry" add column "reason" text null`,
        `create index ledger_entry_adjustment_index on ledger_entry (account_id) where kind = 'adjustment'`,
        `create table "operator_action" (
        "id" integer not null primary key autoincrement,
        "at" datetime not null,
        "operator" text not null,
        "command" text not null,
        "arguments" text not null,
        "outcome" text null
      )`,
      ],
      postgresql: [
        `alter table "account" add column "closed_at" timestamptz(3) null`,
        `alter table "ledger_entry" add column "reason" varchar(200) null`,
        `create index ledger_entry_adjustment_index on ledger_entry (account_id) where kind = 'adjustment'`,
        `create table "operator_action" (
        "id" bigserial primary key,
        "at" timestamptz(3) not null,
        "operator" varchar(255) not null,
        "command" varchar(64) not null,
        "arguments" text not null,
        "outcome" varchar(16) null
      )`,
      ],
    },
  },
  {
    name: "016-retention-compatible",
    up: {
      sqlite: [
        `create index task_kept_image_index on task (succeeded_at) where state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null`,
      ],
      postgresql: [
        `create index task_kept_image_index on task (succeeded_at) where state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null`,
      ],
    },
  },
  {
    name: "017-traceparent-compatible",
    up: {
      sqlite: [`alter table "task" add column "traceparent" text null`],
      postgresql: [`alter table "task" add column "traceparent" varchar(55) null`],
    },
  },
  {
    name: "018-leases-compatible",
    up: {
      sqlite: [
        `alter table "task" add column "leased_until" datetime null`,
        `alter table "task" add column "cancel_wanted_at" datetime null`,
        `alter table "task" add column "cancel_refused_at" datetime null`,
      ],
      postgresql: [
        `alter table "task" add column "leased_until" timestamptz(3) null`,
        `alter table "task" add column "cancel_wanted_at" timestamptz(3) null`,
        `alter table "task" add column "cancel_refused_at" timestamptz(3) null`,
      ],
    },
  },
  {
    // The application fills the tables (search-rows.ts). An earlier version goes on without them.
    name: "019-search-compatible",
    up: {
      sqlite: [
        `alter table "task" add column "in_search" integer not null default false`,
        `create index task_out_of_search_index on task (id) where in_search <> (visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null)`,
        `create table "task_search" ("number" integer not null primary key, "task_id" text not null)`,
        `create unique index "task_search_task_unique" on "task_search" ("task_id")`,
        // A list for each prefix of a word: a search merges no lists, so its time does not depend on their length.
        `create virtual table "task_words" using fts5(words, content = '', contentless_delete = 1, detail = 'none',
        tokenize = 'ascii', prefix = '1 2 3 4 5 6 7 8 9 10 11 12')`,
      ],
      postgresql: [
        `alter table "task" add column "in_search" boolean not null default false`,
        `create index task_out_of_search_index on task (id) where in_search <> (visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null)`,
        `create table "task_search" (
        "task_id" varchar(40) not null,
        "words" tsvector not null,
        constraint "task_search_pkey" primary key ("task_id")
      )`,
        // Without the list of pending entries, which every search would read.
        `create index task_search_words_index on task_search using gin (words) with (fastupdate = off)`,
      ],
    },
  },
  {
    name: "020-webhooks-compatible",
    up: {
      sqlite: [
        `alter table "credit_order" add column "checkout_session" text null`,
        `alter table "credit_order" add column "checkout_token" text null`,
        `alter table "credit_order" add column "price_cents" integer null`,
        `alter table "credit_order" add column "currency" text null`,
        `create table "webhook_receiver" (
        "name" text not null primary key,
        "verified_at" datetime null,
        "failures" integer not null,
        "next_at" datetime not null
      )`,
        `create index "webhook_receiver_next_index" on "webhook_receiver" ("next_at")`,
      ],
      postgresql: [
        `alter table "credit_order" add column "checkout_session" text null,
        add column "checkout_token" text null, add column "price_cents" int null, add column "currency" varchar(3) null`,
        `create table "webhook_receiver" (
        "name" text not null,
        "verified_at" timestamptz(3) null,
        "failures" int not null,
        "next_at" timestamptz(3) not null,
        constraint "webhook_receiver_pkey" primary key ("name")
      )`,
        `create index "webhook_receiver_next_index" on "webhook_receiver" ("next_at")`,
      ],
    },
  },
  {
    // Older versions write no failures of an account and no spending of keys without a budget; they read neither.
    name: "021-growth-compatible",
    up: {
      sqlite: [
        `alter table "account" add column "granted" bigint not null default 0`,
        `alter table "account" add column "failure_day" integer not null default 0`,
        `alter table "account" add column "failures" integer not null default 0`,
        `alter table "account" add column "failure_bytes" integer not null default 0`,
        `alter table "task" add column "texts_erased_at" datetime null`,
        ...GROWTH_INDEXES,
        ...GROWTH_SUMS,
        `insert into key_spending (api_key_id, day, credits)
          select api_key.id, cast(strftime('%Y%m%d', reserved_at / 1000, 'unixepoch') as integer), sum(task.credits)
          from task join api_key on api_key.id = task.api_key_id
          where state <> 'failed' and reserved_at >= unixepoch('now', 'start of month') * 1000 group by 1, 2
          on conflict (api_key_id, day) do update set credits = excluded.credits`,
        `create trigger ledger_entry_granted after insert on ledger_entry when new.kind not in ('reservation', 'refund')
          begin update account set granted = granted + new.credits where id = new.account_id; end`,
      ],
      postgresql: [
        `alter table "account" add column "granted" bigint not null default 0, add column "failure_day" int not null default 0, add column "failures" int not null default 0, add column "failure_bytes" int not null default 0`,
        `alter table "task" add column "texts_erased_at" timestamptz(3) null`,
        ...GROWTH_INDEXES,
        ...GROWTH_SUMS,
        `insert into key_spending (api_key_id, day, credits)
          select api_key.id, cast(to_char(reserved_at at time zone 'UTC', 'YYYYMMDD') as integer), sum(task.credits)
          from task join api_key on api_key.id = task.api_key_id
          where state <> 'failed' and reserved_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
          group by 1, 2 on conflict (api_key_id, day) do update set credits = excluded.credits`,
        `create function count_grant() returns trigger language plpgsql
          as $$ begin update account set granted = granted + new.credits where id = new.account_id; return null; end $$`,
        `create trigger ledger_entry_granted after insert on ledger_entry for each row
          when (new.kind not in ('reservation', 'refund')) execute function count_grant()`,
      ],
    },
  },
  {
    name: "022-retention-in-force-compatible",
    up: {
      sqlite: [
        `create table "retention" (
        "retained" text not null primary key,
        "in_force" double null,
        "confirmed" double null,
        "confirmed_from" datetime null
      )`,
      ],
      postgresql: [
        `create table "retention" (
        "retained" varchar(32) not null,
        "in_force" double precision null,
        "confirmed" double precision null,
        "confirmed_from" timestamptz(3) null,
        constraint "retention_pkey" primary key ("retained")
      )`,
      ],
    },
  },
  {
    // Older versions take and give back without the new dates; a lease that they leave behind ends by its date.
    name: "023-delivery-leases-compatible",
    up: {
      sqlite: [
        `alter table "webhook_delivery" add column "leased_until" datetime null`,
        `alter table "webhook_receiver" add column "leased_until" datetime null`,
      ],
      postgresql: [
        `alter table "webhook_delivery" add column "leased_until" timestamptz(3) null`,
        `alter table "webhook_receiver" add column "leased_until" timestamptz(3) null`,
      ],
    },
  },
  {
    // Older versions neither read nor write it.
    name: "024-result-figures-compatible",
    up: {
      sqlite: [`alter table "task" add column "result_figures" text null`],
      postgresql: [`alter table "task" add column "result_figures" text null`],
    },
  },
  {
    // Older versions neither read nor write them, and find a reason that they know in `failure_reason`.
    name: "025-failure-causes-compatible",
    up: {
      sqlite: [
        `alter table "task" add column "failure_cause" text null`,
        `alter table "task" add column "failure_image" integer null`,
      ],
      postgresql: [
        `alter table "task" add column "failure_cause" varchar(32) null, add column "failure_image" int null`,
      ],
    },
  },
];
