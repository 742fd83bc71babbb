/** Tasks and their queue. In the words of `step.ts`; never edit it after a release. */
export const TASKS = `
create table task (
  id text(40) not null,
  account_id text(40) not null,
  slug text(16) not null,
  resolution text(2) not null,
  prompt text null,
  image_urls json not null,
  visibility text(7) not null,
  seed integer null,
  metadata json null,
  credits integer not null,
  state text(16) not null,
  reserved_at time not null,
  submitted_at time null,
  upstream_task_id text null,
  succeeded_at time null,
  failed_at time null,
  failure_reason text(32) null,
  failure_image integer null,
  failure_image_problem text(200) null,
  storage_status text(16) null,
  temporary_url text null,
  image_name text(128) null,
  failed_attempts integer null,
  native_width integer null,
  native_height integer null,
  source_type text(40) null,
  result_figures text null,
  due_at time null,
  fence integer not null,
  turn integer null,
  start_at time null,
  submissions integer not null default 0,
  place text null,
  api_key_id text(40) null,
  deleted_at time null,
  texts_erased_at time null,
  webhook_url text null,
  traceparent text(55) null,
  leased_until time null,
  cancel_wanted_at time null,
  cancel_refused_at time null,
  in_search flag not null default false,
  started_at time null,
  generated_at time null,
  saved_at time null,
  expired_at time null,
  failure_detail text null,
  deleted_by text(64) null,
  hidden_at time null,
  hidden_reason text(200) null,
  hidden_by text(100) null,
  chosen_visibility text(7) null,
  next_image_name text(128) null,
  constraint task_pkey primary key (id),
  constraint task_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create unique constraint task_slug_unique on task (slug);
create index task_account_index on task (account_id, id);
create index task_visible_index on task (account_id, id) where deleted_at is null;
create index task_filter_index on task (account_id, state, visibility, id) where deleted_at is null;
create index task_created_index on task (account_id, reserved_at);
create index task_text_index on task (coalesce(deleted_at, failed_at))
  where (state = 'failed' or deleted_at is not null) and texts_erased_at is null;
create index task_due_index on task (state, due_at) where due_at is not null;
create index task_gallery_index on task (id)
  where visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and deleted_at is null;
create index task_failed_image_index on task (id)
  where state = 'succeeded' and storage_status = 'failed' and deleted_at is null;
create index task_image_index on task (image_name) where image_name is not null;
create index task_hidden_url_index on task (temporary_url) where hidden_at is not null;
create index task_queue_index on task (turn, id) where state = 'queued';

create table task_metadata (
  account_id text(40) not null,
  key text(40) not null,
  value text(500) not null,
  task_id text(40) not null,
  constraint task_metadata_pkey primary key (account_id, key, value, task_id),
  constraint task_metadata_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict,
  constraint task_metadata_task_id_foreign foreign key (task_id)
    references task (id) on update restrict on delete restrict
);

create table task_queue (
  id integer not null,
  round integer not null,
  constraint task_queue_pkey primary key (id)
);

create table task_reference (
  task_id text(40) not null,
  name text(128) not null,
  constraint task_reference_pkey primary key (task_id, name),
  constraint task_reference_task_id_foreign foreign key (task_id)
    references task (id) on update restrict on delete restrict,
  constraint task_reference_name_foreign foreign key (name)
    references reference_image (name) on update restrict on delete restrict
);
create index task_reference_name_index on task_reference (name);
`;
