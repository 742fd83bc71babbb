/** Tasks and their queue. In the words of `step.ts`; never edit it after a release. */
export const TASKS = `
-- A task with its reservation, whose state follows from the task's. The columns of each state: task-rows.ts.
create table task (
  id text(40) not null,
  account_id text(40) not null,
  slug text(16) not null,
  resolution text(2) not null,
  prompt text null,
  image_urls json not null,
  visibility text(7) not null,
  seed integer null,
  -- Null if there is none. task_metadata has the same pairs.
  metadata json null,
  credits integer not null,
  state text(16) not null,
  reserved_at time not null,
  submitted_at time null,
  upstream_task_id text null,
  succeeded_at time null,
  failed_at time null,
  failure_reason text(32) null,
  -- The reference image that caused the failure, counted from 0; null if unknown.
  failure_image integer null,
  -- The problem of this image, in the words for the customer.
  failure_image_problem text(200) null,
  storage_status text(16) null,
  temporary_url text null,
  image_name text(128) null,
  failed_attempts integer null,
  -- The size of the provider's result.
  native_width integer null,
  native_height integer null,
  -- How the result was made (domain/images/source-type.ts); null for tasks from before this column.
  source_type text(40) null,
  -- Measurements of the result (domain/images/picture.ts), as JSON; null if none was decoded.
  result_figures text null,
  -- When the next work on it is due. Of a leased task: before leased_until if somebody has wanted it meanwhile.
  due_at time null,
  fence integer not null,
  -- The turn in the queue (domain/tasks/queue.ts); null if it was never queued.
  turn integer null,
  -- A waiting task is not started before: the provider has asked for a pause.
  start_at time null,
  -- Number of returns to the queue. Together with state it identifies the version of an active task.
  submissions integer not null default 0,
  -- The place of the provider whose slot it holds or has held (domain/tasks/queue.ts).
  place text null,
  -- The key that created it. Without a foreign key: each creation would lock the row of its key.
  api_key_id text(40) null,
  -- Set when the owner deletes the panorama. Then only the ledger and the idempotency keys refer to the task.
  deleted_at time null,
  -- Set when prompt, image URLs and metadata of a task without a picture are erased.
  texts_erased_at time null,
  webhook_url text null,
  traceparent text(55) null,
  -- Until when a worker has the task, unless it gives it back.
  leased_until time null,
  -- Times of the owner's cancel request and of the provider's refusal (domain/tasks/cancel-request.ts).
  cancel_wanted_at time null,
  cancel_refused_at time null,
  -- True if the search index has it (search-rows.ts).
  in_search flag not null default false,
  -- When it left the queue, its result was there, its image was stored and expired.
  started_at time null,
  generated_at time null,
  saved_at time null,
  expired_at time null,
  -- Failure details of the provider or the service, for operators.
  failure_detail text null,
  -- The one who deleted it (domain/tasks/out-of-sight.ts).
  deleted_by text(64) null,
  -- When an operator has hidden it from everybody but its owner, why, and who.
  hidden_at time null,
  hidden_reason text(200) null,
  hidden_by text(100) null,
  -- Of a hidden one: the visibility that its owner chose, which it gets back.
  chosen_visibility text(7) null,
  -- The name that its stored files are being given (domain/images/storage-status.ts).
  next_image_name text(128) null,
  constraint task_pkey primary key (id),
  constraint task_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create unique constraint task_slug_unique on task (slug);
create index task_account_index on task (account_id, id);
-- For an account's list and its filters (task-filters.ts). Partial: deleted tasks stay for ever.
create index task_visible_index on task (account_id, id) where deleted_at is null;
create index task_filter_index on task (account_id, state, visibility, id) where deleted_at is null;
create index task_created_index on task (account_id, reserved_at);
-- Partial: the tasks without a picture whose texts are not erased yet, in the order in which they are.
create index task_text_index on task (coalesce(deleted_at, failed_at))
  where (state = 'failed' or deleted_at is not null) and texts_erased_at is null;
-- Partial: the cost of finding due work does not depend on the number of finished tasks.
create index task_due_index on task (state, due_at) where due_at is not null;
-- Partial, ordered by age: a gallery page reads only the rows that it shows.
create index task_gallery_index on task (id)
  where visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and deleted_at is null;
-- Partial: an operator's retry of all failed images does not read the others.
create index task_failed_image_index on task (id)
  where state = 'succeeded' and storage_status = 'failed' and deleted_at is null;
-- Each request for a stored image asks whether it may be shown, a creation whether it may be a reference.
create index task_image_index on task (image_name) where image_name is not null;
create index task_hidden_url_index on task (temporary_url) where hidden_at is not null;
-- Partial, in the order in which tasks start.
create index task_queue_index on task (turn, id) where state = 'queued';

-- The pairs of a task's metadata, for the filters of an account's list: each filter is one range, newest task last.
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

-- Has exactly one row. It is locked while a task is queued or started (domain/tasks/queue.ts).
create table task_queue (
  id integer not null,
  round integer not null,
  constraint task_queue_pkey primary key (id)
);

-- A task that is active or has succeeded uses the image.
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
