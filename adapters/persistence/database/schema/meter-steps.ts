import { type Step, statementsOf } from "./step.js";

const BASELINE = `
create table meter_account (
  id text not null primary key,
  credits integer not null check (credits >= 0),
  -- The balance is credits - debt.
  debt integer not null default 0
);

create table meter_hold (
  task_id text not null primary key,
  account_id text not null,
  credits integer not null,
  state text not null,
  held_at time not null,
  expires_at time not null,
  idempotency_key text null,
  request text null,
  captured integer null,
  refunded integer not null default 0,
  description text null,
  metadata text null
);

create index meter_hold_open on meter_hold (account_id) where state = 'held';

create index meter_hold_key on meter_hold (account_id, idempotency_key, held_at) where idempotency_key is not null;

create table meter_log (
  account_id text not null,
  rate text not null,
  admissions text not null,
  primary key (account_id, rate)
);

create table meter_entry (
  id serial,
  account_id text not null,
  kind text not null,
  credits integer not null,
  task_id text null,
  order_id text null,
  at time not null,
  description text null,
  reason text null,
  metadata text null
);

create index meter_entry_account on meter_entry (account_id, id);

create unique index meter_entry_order on meter_entry (account_id, order_id) where order_id is not null;

-- A refund of captured credits has a key, in order_id. Without one a task has one entry of each kind.
create unique index meter_entry_of_task on meter_entry (task_id, kind) where task_id is not null and order_id is null;
`;

/** The tables of a meter. The service has no meter, so its own migrations omit them. Never edit a released step. */
export const METER_STEPS: readonly Step[] = [
  {
    name: "meter-001-baseline",
    up: {
      sqlite: statementsOf(BASELINE, "sqlite"),
      postgresql: statementsOf(BASELINE, "postgresql"),
    },
  },
];
