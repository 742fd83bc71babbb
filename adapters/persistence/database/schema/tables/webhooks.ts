/** Events and their deliveries. In the words of `step.ts`; never edit it after a release. */
export const WEBHOOKS = `
-- Events of accounts: the outbox of webhooks and streams. Each task causes each type at most once.
create table event (
  account_id text(40) not null,
  -- Counts the events of the account, without gaps.
  number integer not null,
  type text(32) not null,
  task_id text(40) null,
  -- The remaining credits, of an event that is not about a task.
  credits integer null,
  at time not null,
  constraint event_pkey primary key (account_id, number),
  constraint event_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict,
  constraint event_task_id_foreign foreign key (task_id) references task (id) on update restrict on delete restrict
);
create index event_age_index on event (at);
create unique constraint event_task_unique on event (task_id, type);

create table webhook_endpoint (
  id text(40) not null,
  account_id text(40) not null,
  url text null,
  secret text(80) not null,
  previous_secret text(80) null,
  previous_until time null,
  created_at time not null,
  failing_since time null,
  off_at time null,
  off_reason text(16) null,
  constraint webhook_endpoint_pkey primary key (id),
  constraint webhook_endpoint_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create index webhook_endpoint_account_index on webhook_endpoint (account_id);
create index webhook_endpoint_listed_index on webhook_endpoint (account_id, id)
  where (off_reason is null or off_reason <> 'deleted');
create unique index webhook_endpoint_default_unique on webhook_endpoint (account_id) where url is null;

-- An event, by account and number, on its way to one endpoint. The event is deleted after its deliveries.
create table webhook_delivery (
  id serial,
  endpoint_id text(40) not null,
  account_id text(40) not null,
  number integer not null,
  task_id text(40) null,
  -- Name of the receiver: deliveries with the same lane share a limit.
  lane text not null,
  state text(16) not null,
  attempts integer not null,
  first_attempt_at time null,
  detail text null,
  ended_at time null,
  -- When the next attempt is due; null unless it is pending. During an attempt, earlier than leased_until if it
  -- was sent again meanwhile.
  due_at time null,
  fence integer not null,
  -- Until when a worker attempts it, unless it records the result earlier.
  leased_until time null,
  constraint webhook_delivery_endpoint_id_foreign foreign key (endpoint_id)
    references webhook_endpoint (id) on update restrict on delete restrict
);
create index webhook_delivery_account_index on webhook_delivery (account_id, number);
create index webhook_delivery_page_index on webhook_delivery (account_id, id);
create index webhook_delivery_endpoint_index on webhook_delivery (endpoint_id);
-- Partial: finished deliveries cost the next claim nothing.
create index webhook_delivery_due_index on webhook_delivery (due_at) where due_at is not null;
create index webhook_delivery_lane_index on webhook_delivery (lane, due_at) where due_at is not null;
create index webhook_delivery_task_index on webhook_delivery (task_id, lane) where due_at is not null;

-- Results of recent webhooks to a lane, or to an origin without a confirmed lane
-- (domain/webhooks/webhook-receiver.ts).
create table webhook_receiver (
  name text not null,
  verified_at time null,
  failures integer not null,
  -- During the only attempt, earlier than leased_until if somebody has wanted the next one at once.
  next_at time not null,
  -- Until when the only attempt has the lane or the origin, unless its result is recorded earlier.
  leased_until time null,
  constraint webhook_receiver_pkey primary key (name)
);
create index webhook_receiver_next_index on webhook_receiver (next_at);
create index webhook_receiver_leased_index on webhook_receiver (leased_until) where leased_until is not null;
`;
