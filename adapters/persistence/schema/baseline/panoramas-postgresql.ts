/* The schema generator's output for schema.ts. test/adapters/persistence/schema/baseline.test.ts updates it. */
export const PANORAMAS_POSTGRESQL = `
create table account (
  id varchar(40) not null,
  email varchar(254) not null,
  password_hash varchar(255) null,
  credits int not null,
  active_tasks int not null,
  last_turn int not null default 0,
  low_balance_threshold int null,
  last_event int not null default 0,
  debt int not null default 0,
  open_disputes int not null default 0,
  granted bigint not null default 0,
  failure_day int not null default 0,
  failures int not null default 0,
  failure_bytes int not null default 0,
  created_at timestamptz(3) not null,
  closed_at timestamptz(3) null,
  erased_at timestamptz(3) null,
  suspended_at timestamptz(3) null,
  suspension_reason varchar(200) null,
  constraint account_pkey primary key (id),
  constraint account_credits_check check (credits >= 0),
  constraint account_active_tasks_check check (active_tasks >= 0)
);
alter table account add constraint account_email_unique unique (email);
create index account_to_be_erased_index on account (closed_at) where closed_at is not null and erased_at is null;
create index account_suspended_index on account (id, suspension_reason) where suspension_reason is not null;

create table api_key (
  id varchar(40) not null,
  account_id varchar(40) not null,
  name varchar(80) not null,
  secret_sha256 varchar(64) not null,
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3) null,
  scopes varchar(64) not null default 'read,create',
  expires_at timestamptz(3) null,
  credits_per_day int null,
  credits_per_month int null,
  last_used_at timestamptz(3) null,
  prefix varchar(16) not null,
  constraint api_key_pkey primary key (id)
);
alter table api_key add constraint api_key_secret_unique unique (secret_sha256);
create index api_key_account_index on api_key (account_id);
create index api_key_live_index on api_key (account_id) where revoked_at is null;
create index api_key_use_index on api_key (secret_sha256, revoked_at, id, account_id, scopes, expires_at, credits_per_day, credits_per_month) where revoked_at is null;

create table credit_order (
  id varchar(40) not null,
  account_id varchar(40) not null,
  credits int not null,
  created_at timestamptz(3) not null,
  paid_at timestamptz(3) null,
  checkout_session text null,
  checkout_token text null,
  price_cents int null,
  currency varchar(3) null,
  payment_id varchar(255) null,
  taken_back int not null default 0,
  returned varchar(16) not null default 'paid',
  dispute varchar(16) not null default 'none',
  return_reason varchar(200) null,
  constraint credit_order_pkey primary key (id),
  constraint credit_order_credits_check check (credits > 0)
);
create index credit_order_page_index on credit_order (account_id, id);
create index credit_order_pending_index on credit_order (account_id, created_at) where paid_at is null;
create index credit_order_paid_index on credit_order (account_id) where paid_at is not null;
create index credit_order_payment_index on credit_order (payment_id) where payment_id is not null;
create index credit_order_to_confirm_index on credit_order (created_at) where paid_at is null and checkout_session is null;
create index credit_order_waiting_index on credit_order (id) where paid_at is null;

create table installation_secret (
  name varchar(64) not null,
  value text not null,
  constraint installation_secret_pkey primary key (name)
);

create table key_spending (
  api_key_id varchar(40) not null,
  day int not null,
  credits int not null,
  constraint key_spending_pkey primary key (api_key_id, day)
);

create table letter (
  id varchar(64) not null,
  kind varchar(32) not null,
  recipient text not null,
  account_id varchar(40) null,
  attempt int not null,
  due_at timestamptz(3) not null,
  constraint letter_pkey primary key (id)
);
create index letter_due_at_index on letter (due_at);

create table operator_action (
  id bigserial primary key,
  at timestamptz(3) not null,
  operator varchar(255) not null,
  command varchar(64) not null,
  arguments text not null,
  outcome varchar(16) null
);

create table password_link (
  token_sha256 varchar(64) not null,
  email varchar(254) not null,
  expires_at timestamptz(3) not null,
  constraint password_link_pkey primary key (token_sha256)
);
create index password_link_email_index on password_link (email);
create index password_link_expires_index on password_link (expires_at);

create table payment_return (
  id varchar(255) not null,
  kind varchar(16) not null,
  payment_id varchar(255) null,
  order_id varchar(40) null,
  at timestamptz(3) null,
  cents int null,
  credits int null,
  reason varchar(200) null,
  transfers int null,
  state varchar(16) null,
  state_at timestamptz(3) null,
  recorded_at timestamptz(3) not null,
  constraint payment_return_pkey primary key (id)
);
create index payment_return_payment_index on payment_return (payment_id);
create index payment_return_order_index on payment_return (order_id);

create table reference_image (
  name varchar(128) not null,
  content varchar(80) not null,
  bytes int not null,
  delete_at timestamptz(3) null,
  constraint reference_image_pkey primary key (name)
);
create unique index reference_image_content_unique on reference_image (content) where delete_at is null;
create index reference_image_deletable_index on reference_image (delete_at) where delete_at is not null;

create table reference_upload (
  account_id varchar(40) not null,
  name varchar(128) not null,
  uploaded_at timestamptz(3) not null,
  constraint reference_upload_pkey primary key (account_id, name)
);
create index reference_upload_age_index on reference_upload (uploaded_at);
create index reference_upload_name_index on reference_upload (name);

create table session (
  token_sha256 varchar(64) not null,
  account_id varchar(40) not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint session_pkey primary key (token_sha256)
);
create index session_expires_index on session (expires_at);
create index session_account_index on session (account_id);

create table task (
  id varchar(40) not null,
  account_id varchar(40) not null,
  slug varchar(16) not null,
  resolution varchar(2) not null,
  prompt text null,
  image_urls jsonb not null,
  visibility varchar(7) not null,
  seed int null,
  metadata jsonb null,
  credits int not null,
  state varchar(16) not null,
  reserved_at timestamptz(3) not null,
  submitted_at timestamptz(3) null,
  upstream_task_id text null,
  succeeded_at timestamptz(3) null,
  failed_at timestamptz(3) null,
  failure_reason varchar(32) null,
  failure_image int null,
  failure_image_problem varchar(200) null,
  storage_status varchar(16) null,
  temporary_url text null,
  image_name varchar(128) null,
  failed_attempts int null,
  native_width int null,
  native_height int null,
  result_figures text null,
  due_at timestamptz(3) null,
  fence int not null,
  turn int null,
  start_at timestamptz(3) null,
  submissions int not null default 0,
  place text null,
  api_key_id varchar(40) null,
  deleted_at timestamptz(3) null,
  texts_erased_at timestamptz(3) null,
  webhook_url text null,
  traceparent varchar(55) null,
  leased_until timestamptz(3) null,
  cancel_wanted_at timestamptz(3) null,
  cancel_refused_at timestamptz(3) null,
  in_search boolean not null default false,
  started_at timestamptz(3) null,
  generated_at timestamptz(3) null,
  saved_at timestamptz(3) null,
  expired_at timestamptz(3) null,
  failure_detail text null,
  deleted_by varchar(64) null,
  hidden_at timestamptz(3) null,
  hidden_reason varchar(200) null,
  hidden_by varchar(100) null,
  chosen_visibility varchar(7) null,
  next_image_name varchar(128) null,
  constraint task_pkey primary key (id)
);
alter table task add constraint task_slug_unique unique (slug);
create index task_account_index on task (account_id, id);
create index task_visible_index on task (account_id, id) where deleted_at is null;
create index task_filter_index on task (account_id, state, visibility, id) where deleted_at is null;
create index task_created_index on task (account_id, reserved_at);
create index task_text_index on task (coalesce(deleted_at, failed_at)) where (state = 'failed' or deleted_at is not null) and texts_erased_at is null;
create index task_due_index on task (state, due_at) where due_at is not null;
create index task_gallery_index on task (id) where visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and deleted_at is null;
create index task_failed_image_index on task (id) where state = 'succeeded' and storage_status = 'failed' and deleted_at is null;
create index task_hidden_image_index on task (image_name) where hidden_at is not null;
create index task_hidden_url_index on task (temporary_url) where hidden_at is not null;
create index task_queue_index on task (turn, id) where state = 'queued';

create table ledger_entry (
  id bigserial primary key,
  account_id varchar(40) not null,
  kind varchar(16) not null,
  credits int not null,
  task_id varchar(40) null,
  order_id varchar(40) null,
  at timestamptz(3) not null,
  reason varchar(200) null,
  reference varchar(100) null
);
create index ledger_entry_account_index on ledger_entry (account_id, id);
create unique index ledger_entry_purchase_unique on ledger_entry (order_id) where kind = 'purchase';
create unique index ledger_entry_reference_unique on ledger_entry (account_id, reference) where reference is not null;
alter table ledger_entry add constraint ledger_entry_task_unique unique (task_id, kind);

create table idempotency_key (
  account_id varchar(40) not null,
  key varchar(255) not null,
  task_id varchar(40) not null,
  request_sha256 varchar(64) not null,
  created_at timestamptz(3) not null,
  constraint idempotency_key_pkey primary key (account_id, key)
);
create index idempotency_key_created_index on idempotency_key (created_at);
create index idempotency_key_task_index on idempotency_key (task_id);

create table event (
  account_id varchar(40) not null,
  number int not null,
  type varchar(32) not null,
  task_id varchar(40) null,
  credits int null,
  at timestamptz(3) not null,
  constraint event_pkey primary key (account_id, number)
);
create index event_age_index on event (at);
alter table event add constraint event_task_unique unique (task_id, type);

create table task_metadata (
  account_id varchar(40) not null,
  key varchar(40) not null,
  value varchar(500) not null,
  task_id varchar(40) not null,
  constraint task_metadata_pkey primary key (account_id, key, value, task_id)
);

create table task_queue (
  id int not null,
  round int not null,
  constraint task_queue_pkey primary key (id)
);

create table task_reference (
  task_id varchar(40) not null,
  name varchar(128) not null,
  constraint task_reference_pkey primary key (task_id, name)
);
create index task_reference_name_index on task_reference (name);

create table webhook_endpoint (
  id varchar(40) not null,
  account_id varchar(40) not null,
  url text null,
  secret varchar(80) not null,
  previous_secret varchar(80) null,
  previous_until timestamptz(3) null,
  created_at timestamptz(3) not null,
  failing_since timestamptz(3) null,
  off_at timestamptz(3) null,
  off_reason varchar(16) null,
  constraint webhook_endpoint_pkey primary key (id)
);
create index webhook_endpoint_account_index on webhook_endpoint (account_id);
create index webhook_endpoint_listed_index on webhook_endpoint (account_id, id) where (off_reason is null or off_reason <> 'deleted');
create unique index webhook_endpoint_default_unique on webhook_endpoint (account_id) where url is null;

create table webhook_delivery (
  id bigserial primary key,
  endpoint_id varchar(40) not null,
  account_id varchar(40) not null,
  number int not null,
  task_id varchar(40) null,
  lane text not null,
  state varchar(16) not null,
  attempts int not null,
  first_attempt_at timestamptz(3) null,
  detail text null,
  ended_at timestamptz(3) null,
  due_at timestamptz(3) null,
  fence int not null,
  leased_until timestamptz(3) null
);
create index webhook_delivery_account_index on webhook_delivery (account_id, number);
create index webhook_delivery_page_index on webhook_delivery (account_id, id);
create index webhook_delivery_endpoint_index on webhook_delivery (endpoint_id);
create index webhook_delivery_due_index on webhook_delivery (due_at) where due_at is not null;
create index webhook_delivery_lane_index on webhook_delivery (lane, due_at) where due_at is not null;
create index webhook_delivery_task_index on webhook_delivery (task_id, lane) where due_at is not null;

create table webhook_receiver (
  name text not null,
  verified_at timestamptz(3) null,
  failures int not null,
  next_at timestamptz(3) not null,
  leased_until timestamptz(3) null,
  constraint webhook_receiver_pkey primary key (name)
);
create index webhook_receiver_next_index on webhook_receiver (next_at);

alter table api_key add constraint api_key_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;

alter table credit_order add constraint credit_order_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;

alter table key_spending add constraint key_spending_api_key_id_foreign foreign key (api_key_id) references api_key (id) on update restrict on delete restrict;

alter table payment_return add constraint payment_return_order_id_foreign foreign key (order_id) references credit_order (id) on update restrict on delete restrict;

alter table reference_upload add constraint reference_upload_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;
alter table reference_upload add constraint reference_upload_name_foreign foreign key (name) references reference_image (name) on update restrict on delete restrict;

alter table session add constraint session_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;

alter table task add constraint task_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;

alter table ledger_entry add constraint ledger_entry_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;
alter table ledger_entry add constraint ledger_entry_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict;
alter table ledger_entry add constraint ledger_entry_order_id_foreign foreign key (order_id) references credit_order (id) on update restrict on delete restrict;

alter table idempotency_key add constraint idempotency_key_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;
alter table idempotency_key add constraint idempotency_key_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict;

alter table event add constraint event_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;
alter table event add constraint event_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict;

alter table task_metadata add constraint task_metadata_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;
alter table task_metadata add constraint task_metadata_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict;

alter table task_reference add constraint task_reference_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict;
alter table task_reference add constraint task_reference_name_foreign foreign key (name) references reference_image (name) on update restrict on delete restrict;

alter table webhook_endpoint add constraint webhook_endpoint_account_id_foreign foreign key (account_id) references account (id) on update restrict on delete restrict;

alter table webhook_delivery add constraint webhook_delivery_endpoint_id_foreign foreign key (endpoint_id) references webhook_endpoint (id) on update restrict on delete restrict;
`;
