/* The schema generator's output for schema.ts. test/adapters/persistence/schema/baseline.test.ts updates it. */
export const PANORAMAS_SQLITE = `
create table account (
  id text not null,
  email text not null,
  password_hash text null,
  credits integer not null,
  active_tasks integer not null,
  last_turn integer not null default 0,
  low_balance_threshold integer null,
  last_event integer not null default 0,
  debt integer not null default 0,
  open_disputes integer not null default 0,
  granted bigint not null default 0,
  failure_day integer not null default 0,
  failures integer not null default 0,
  failure_bytes integer not null default 0,
  created_at datetime not null,
  closed_at datetime null,
  erased_at datetime null,
  suspended_at datetime null,
  suspension_reason text null,
  primary key (id),
  constraint account_credits_check check (credits >= 0),
  constraint account_active_tasks_check check (active_tasks >= 0)
);
create unique index account_email_unique on account (email);
create index account_to_be_erased_index on account (closed_at) where closed_at is not null and erased_at is null;
create index account_suspended_index on account (id, suspension_reason) where suspension_reason is not null;

create table api_key (
  id text not null,
  account_id text not null,
  name text not null,
  secret_sha256 text not null,
  created_at datetime not null,
  revoked_at datetime null,
  scopes text not null default 'read,create',
  expires_at datetime null,
  credits_per_day integer null,
  credits_per_month integer null,
  last_used_at datetime null,
  prefix text not null,
  constraint api_key_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  primary key (id)
);
create unique index api_key_secret_unique on api_key (secret_sha256);
create index api_key_account_index on api_key (account_id);
create index api_key_live_index on api_key (account_id) where revoked_at is null;
create index api_key_use_index on api_key (secret_sha256, revoked_at, id, account_id, scopes, expires_at, credits_per_day, credits_per_month) where revoked_at is null;

create table credit_order (
  id text not null,
  account_id text not null,
  credits integer not null,
  created_at datetime not null,
  paid_at datetime null,
  checkout_session text null,
  checkout_token text null,
  price_cents integer null,
  currency text null,
  payment_id text null,
  taken_back integer not null default 0,
  returned text not null default 'paid',
  dispute text not null default 'none',
  return_reason text null,
  constraint credit_order_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  primary key (id),
  constraint credit_order_credits_check check (credits > 0)
);
create index credit_order_page_index on credit_order (account_id, id);
create index credit_order_pending_index on credit_order (account_id, created_at) where paid_at is null;
create index credit_order_paid_index on credit_order (account_id) where paid_at is not null;
create index credit_order_payment_index on credit_order (payment_id) where payment_id is not null;
create index credit_order_to_confirm_index on credit_order (created_at) where paid_at is null and checkout_session is null;
create index credit_order_waiting_index on credit_order (id) where paid_at is null;

create table installation_secret (
  name text not null,
  value text not null,
  primary key (name)
);

create table key_spending (
  api_key_id text not null,
  day integer not null,
  credits integer not null,
  constraint key_spending_api_key_id_foreign foreign key(api_key_id) references api_key(id) on delete restrict on update restrict,
  primary key (api_key_id, day)
);

create table letter (
  id text not null,
  kind text not null,
  recipient text not null,
  account_id text null,
  attempt integer not null,
  due_at datetime not null,
  primary key (id)
);
create index letter_due_at_index on letter (due_at);

create table operator_action (
  id integer not null primary key autoincrement,
  at datetime not null,
  operator text not null,
  command text not null,
  arguments text not null,
  outcome text null
);

create table password_link (
  token_sha256 text not null,
  email text not null,
  expires_at datetime not null,
  primary key (token_sha256)
);
create index password_link_email_index on password_link (email);
create index password_link_expires_index on password_link (expires_at);

create table payment_return (
  id text not null,
  kind text not null,
  payment_id text null,
  order_id text null,
  at datetime null,
  cents integer null,
  credits integer null,
  reason text null,
  transfers integer null,
  state text null,
  state_at datetime null,
  recorded_at datetime not null,
  constraint payment_return_order_id_foreign foreign key(order_id) references credit_order(id) on delete restrict on update restrict,
  primary key (id)
);
create index payment_return_payment_index on payment_return (payment_id);
create index payment_return_order_index on payment_return (order_id);

create table reference_image (
  name text not null,
  content text not null,
  bytes integer not null,
  delete_at datetime null,
  primary key (name)
);
create unique index reference_image_content_unique on reference_image (content) where delete_at is null;
create index reference_image_deletable_index on reference_image (delete_at) where delete_at is not null;

create table reference_upload (
  account_id text not null,
  name text not null,
  uploaded_at datetime not null,
  constraint reference_upload_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  constraint reference_upload_name_foreign foreign key(name) references reference_image(name) on delete restrict on update restrict,
  primary key (account_id, name)
);
create index reference_upload_age_index on reference_upload (uploaded_at);
create index reference_upload_name_index on reference_upload (name);

create table session (
  token_sha256 text not null,
  account_id text not null,
  created_at datetime not null,
  expires_at datetime not null,
  constraint session_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  primary key (token_sha256)
);
create index session_expires_index on session (expires_at);
create index session_account_index on session (account_id);

create table task (
  id text not null,
  account_id text not null,
  slug text not null,
  resolution text not null,
  prompt text null,
  image_urls json not null,
  visibility text not null,
  seed integer null,
  metadata json null,
  credits integer not null,
  state text not null,
  reserved_at datetime not null,
  submitted_at datetime null,
  upstream_task_id text null,
  succeeded_at datetime null,
  failed_at datetime null,
  failure_reason text null,
  failure_image integer null,
  failure_image_problem text null,
  storage_status text null,
  temporary_url text null,
  image_name text null,
  failed_attempts integer null,
  native_width integer null,
  native_height integer null,
  result_figures text null,
  due_at datetime null,
  fence integer not null,
  turn integer null,
  start_at datetime null,
  submissions integer not null default 0,
  place text null,
  api_key_id text null,
  deleted_at datetime null,
  texts_erased_at datetime null,
  webhook_url text null,
  traceparent text null,
  leased_until datetime null,
  cancel_wanted_at datetime null,
  cancel_refused_at datetime null,
  in_search integer not null default false,
  started_at datetime null,
  generated_at datetime null,
  saved_at datetime null,
  expired_at datetime null,
  failure_detail text null,
  deleted_by text null,
  hidden_at datetime null,
  hidden_reason text null,
  hidden_by text null,
  chosen_visibility text null,
  next_image_name text null,
  constraint task_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  primary key (id)
);
create unique index task_slug_unique on task (slug);
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
  id integer not null primary key autoincrement,
  account_id text not null,
  kind text not null,
  credits integer not null,
  task_id text null,
  order_id text null,
  at datetime not null,
  reason text null,
  reference text null,
  constraint ledger_entry_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  constraint ledger_entry_task_id_foreign foreign key(task_id) references task(id) on delete restrict on update restrict,
  constraint ledger_entry_order_id_foreign foreign key(order_id) references credit_order(id) on delete restrict on update restrict
);
create index ledger_entry_account_index on ledger_entry (account_id, id);
create unique index ledger_entry_purchase_unique on ledger_entry (order_id) where kind = 'purchase';
create unique index ledger_entry_reference_unique on ledger_entry (account_id, reference) where reference is not null;
create unique index ledger_entry_task_unique on ledger_entry (task_id, kind);

create table idempotency_key (
  account_id text not null,
  key text not null,
  task_id text not null,
  request_sha256 text not null,
  created_at datetime not null,
  constraint idempotency_key_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  constraint idempotency_key_task_id_foreign foreign key(task_id) references task(id) on delete restrict on update restrict,
  primary key (account_id, key)
);
create index idempotency_key_created_index on idempotency_key (created_at);
create index idempotency_key_task_index on idempotency_key (task_id);

create table event (
  account_id text not null,
  number integer not null,
  type text not null,
  task_id text null,
  credits integer null,
  at datetime not null,
  constraint event_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  constraint event_task_id_foreign foreign key(task_id) references task(id) on delete restrict on update restrict,
  primary key (account_id, number)
);
create index event_age_index on event (at);
create unique index event_task_unique on event (task_id, type);

create table task_metadata (
  account_id text not null,
  key text not null,
  value text not null,
  task_id text not null,
  constraint task_metadata_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  constraint task_metadata_task_id_foreign foreign key(task_id) references task(id) on delete restrict on update restrict,
  primary key (account_id, key, value, task_id)
);

create table task_queue (
  id integer not null,
  round integer not null,
  primary key (id)
);

create table task_reference (
  task_id text not null,
  name text not null,
  constraint task_reference_task_id_foreign foreign key(task_id) references task(id) on delete restrict on update restrict,
  constraint task_reference_name_foreign foreign key(name) references reference_image(name) on delete restrict on update restrict,
  primary key (task_id, name)
);
create index task_reference_name_index on task_reference (name);

create table webhook_endpoint (
  id text not null,
  account_id text not null,
  url text null,
  secret text not null,
  previous_secret text null,
  previous_until datetime null,
  created_at datetime not null,
  failing_since datetime null,
  off_at datetime null,
  off_reason text null,
  constraint webhook_endpoint_account_id_foreign foreign key(account_id) references account(id) on delete restrict on update restrict,
  primary key (id)
);
create index webhook_endpoint_account_index on webhook_endpoint (account_id);
create index webhook_endpoint_listed_index on webhook_endpoint (account_id, id) where (off_reason is null or off_reason <> 'deleted');
create unique index webhook_endpoint_default_unique on webhook_endpoint (account_id) where url is null;

create table webhook_delivery (
  id integer not null primary key autoincrement,
  endpoint_id text not null,
  account_id text not null,
  number integer not null,
  task_id text null,
  lane text not null,
  state text not null,
  attempts integer not null,
  first_attempt_at datetime null,
  detail text null,
  ended_at datetime null,
  due_at datetime null,
  fence integer not null,
  leased_until datetime null,
  constraint webhook_delivery_endpoint_id_foreign foreign key(endpoint_id) references webhook_endpoint(id) on delete restrict on update restrict
);
create index webhook_delivery_account_index on webhook_delivery (account_id, number);
create index webhook_delivery_page_index on webhook_delivery (account_id, id);
create index webhook_delivery_endpoint_index on webhook_delivery (endpoint_id);
create index webhook_delivery_due_index on webhook_delivery (due_at) where due_at is not null;
create index webhook_delivery_lane_index on webhook_delivery (lane, due_at) where due_at is not null;
create index webhook_delivery_task_index on webhook_delivery (task_id, lane) where due_at is not null;

create table webhook_receiver (
  name text not null,
  verified_at datetime null,
  failures integer not null,
  next_at datetime not null,
  leased_until datetime null,
  primary key (name)
);
create index webhook_receiver_next_index on webhook_receiver (next_at);
`;
