/** Orders, the ledger, and what keys and payments use. In the words of `step.ts`; never edit it after a release. */
export const CREDITS = `
create table credit_order (
  id text(40) not null,
  account_id text(40) not null,
  credits integer not null,
  created_at time not null,
  -- Null while the order is pending.
  paid_at time null,
  -- Null, like the token, without a checkout of a payment service.
  checkout_session text null,
  checkout_token text null,
  -- When a customer placed it. Null for an order that the operator made.
  price_cents integer null,
  currency text(3) null,
  -- The payment service's id of the payment. Null before it.
  payment_id text(255) null,
  -- These follow from the rows of payment_return (domain/credits/payment-return.ts).
  taken_back integer not null default 0,
  returned text(16) not null default 'paid',
  dispute text(16) not null default 'none',
  return_reason text(200) null,
  constraint credit_order_pkey primary key (id),
  constraint credit_order_credits_check check (credits > 0),
  constraint credit_order_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict
);
create index credit_order_page_index on credit_order (account_id, id);
create index credit_order_pending_index on credit_order (account_id, created_at) where paid_at is null;
create index credit_order_paid_index on credit_order (account_id) where paid_at is not null;
create index credit_order_payment_index on credit_order (payment_id) where payment_id is not null;
create index credit_order_to_confirm_index on credit_order (created_at)
  where paid_at is null and checkout_session is null;
create index credit_order_waiting_index on credit_order (id) where paid_at is null;

-- Refunds and disputes (domain/credits/payment-return.ts). The order has the same payment, or is order_id if the
-- operator recorded the return by hand.
create table payment_return (
  -- The payment service's, or one that begins with hand_.
  id text(255) not null,
  kind text(16) not null,
  payment_id text(255) null,
  order_id text(40) null,
  -- When it was created, or had this amount.
  at time null,
  cents integer null,
  -- The credits that the operator took back, and the reason.
  credits integer null,
  reason text(200) null,
  -- These three are of a dispute; a refund with a date has failed then.
  transfers integer null,
  state text(16) null,
  state_at time null,
  recorded_at time not null,
  constraint payment_return_pkey primary key (id),
  constraint payment_return_order_id_foreign foreign key (order_id)
    references credit_order (id) on update restrict on delete restrict
);
create index payment_return_payment_index on payment_return (payment_id);
create index payment_return_order_index on payment_return (order_id);

-- Append-only: triggers (migration-steps.ts) reject updates and deletes. Unique keys allow one reservation and one
-- refund per task, and one purchase per order.
create table ledger_entry (
  id serial,
  account_id text(40) not null,
  kind text(16) not null,
  credits integer not null,
  task_id text(40) null,
  order_id text(40) null,
  at time not null,
  -- Of an adjustment.
  reason text(200) null,
  -- Of an adjustment that is written once.
  reference text(100) null,
  constraint ledger_entry_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict,
  constraint ledger_entry_task_id_foreign foreign key (task_id)
    references task (id) on update restrict on delete restrict,
  constraint ledger_entry_order_id_foreign foreign key (order_id)
    references credit_order (id) on update restrict on delete restrict
);
create index ledger_entry_account_index on ledger_entry (account_id, id);
create unique index ledger_entry_purchase_unique on ledger_entry (order_id) where kind = 'purchase';
create unique index ledger_entry_reference_unique on ledger_entry (account_id, reference) where reference is not null;
create unique constraint ledger_entry_task_unique on ledger_entry (task_id, kind);

create table idempotency_key (
  account_id text(40) not null,
  key text(255) not null,
  task_id text(40) not null,
  request_sha256 text(64) not null,
  created_at time not null,
  constraint idempotency_key_pkey primary key (account_id, key),
  constraint idempotency_key_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict,
  constraint idempotency_key_task_id_foreign foreign key (task_id)
    references task (id) on update restrict on delete restrict
);
create index idempotency_key_created_index on idempotency_key (created_at);
create index idempotency_key_task_index on idempotency_key (task_id);

-- Spending of a key per day: the sum of its tasks reserved that day and not refunded (domain/credits/budget.ts).
create table key_spending (
  api_key_id text(40) not null,
  -- yyyymmdd, in UTC.
  day integer not null,
  credits integer not null,
  constraint key_spending_pkey primary key (api_key_id, day),
  constraint key_spending_api_key_id_foreign foreign key (api_key_id)
    references api_key (id) on update restrict on delete restrict
);
`;
