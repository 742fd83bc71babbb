/** Accounts, and what lets people in. In the words of `step.ts`; never edit it after a release. */
export const ACCOUNTS = `
create table account (
  id text(40) not null,
  email text(254) not null,
  password_hash text(255) null,
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
  created_at time not null,
  closed_at time null,
  erased_at time null,
  suspended_at time null,
  suspension_reason text(200) null,
  constraint account_pkey primary key (id),
  constraint account_credits_check check (credits >= 0),
  constraint account_active_tasks_check check (active_tasks >= 0)
);
create unique constraint account_email_unique on account (email);
create index account_to_be_erased_index on account (closed_at) where closed_at is not null and erased_at is null;
create index account_suspended_index on account (id, suspension_reason) where suspension_reason is not null;

create table api_key (
  id text(40) not null,
  account_id text(40) not null,
  name text(80) not null,
  secret_sha256 text(64) not null,
  created_at time not null,
  revoked_at time null,
  scopes text(64) not null default 'read,create',
  expires_at time null,
  credits_per_day integer null,
  credits_per_month integer null,
  last_used_at time null,
  prefix text(16) not null,
  constraint api_key_pkey primary key (id),
  constraint api_key_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create unique constraint api_key_secret_unique on api_key (secret_sha256);
create index api_key_account_index on api_key (account_id);
create index api_key_live_index on api_key (account_id) where revoked_at is null;
create index api_key_use_index on api_key (secret_sha256, revoked_at, id, account_id, scopes, expires_at,
  credits_per_day, credits_per_month)
  where revoked_at is null;

create table session (
  token_sha256 text(64) not null,
  account_id text(40) not null,
  created_at time not null,
  expires_at time not null,
  constraint session_pkey primary key (token_sha256),
  constraint session_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create index session_expires_index on session (expires_at);
create index session_account_index on session (account_id);

create table password_link (
  token_sha256 text(64) not null,
  email text(254) not null,
  expires_at time not null,
  constraint password_link_pkey primary key (token_sha256)
);
create index password_link_email_index on password_link (email);
create index password_link_expires_index on password_link (expires_at);

-- Secrets that all instances of an installation share.
create table installation_secret (
  name text(64) not null,
  value text not null,
  constraint installation_secret_pkey primary key (name)
);

create table outgoing_email (
  id text(64) not null,
  kind text(32) not null,
  recipient text not null,
  account_id text(40) null,
  attempt integer not null,
  due_at time not null,
  constraint outgoing_email_pkey primary key (id)
);
create index outgoing_email_due_at_index on outgoing_email (due_at);

create table operator_action (
  id serial,
  at time not null,
  operator text(255) not null,
  command text(64) not null,
  arguments text not null,
  outcome text(16) null
);
`;
