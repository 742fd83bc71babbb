import type { Step } from "./step.js";

/** The same in both dialects. */
const INDEXES: readonly string[] = [
  `create unique index ledger_entry_purchase_unique on ledger_entry (order_id) where kind = 'purchase'`,
  `create unique index ledger_entry_reference_unique on ledger_entry (account_id, reference) where reference is not null`,
  `create index credit_order_payment_index on credit_order (payment_id) where payment_id is not null`,
  `create index credit_order_waiting_index on credit_order (id) where paid_at is null`,
  `create index "payment_return_payment_index" on "payment_return" ("payment_id")`,
  `create index "payment_return_order_index" on "payment_return" ("order_id")`,
];

/**
 * What came back of payments, and the debt that it leaves. Earlier versions neither read nor write them. They see
 * entries of the new kinds as adjustments, and credits that they add do not pay a debt: the next purchase does.
 */
export const paymentReturns: Step = {
  name: "026-payment-returns-compatible",
  up: {
    sqlite: [
      `alter table "account" add column "debt" integer not null default 0`,
      `alter table "account" add column "open_disputes" integer not null default 0`,
      `alter table "credit_order" add column "payment_id" text null`,
      `alter table "credit_order" add column "taken_back" integer not null default 0`,
      `alter table "credit_order" add column "returned" text not null default 'paid'`,
      `alter table "credit_order" add column "dispute" text not null default 'none'`,
      `alter table "credit_order" add column "return_reason" text null`,
      `alter table "ledger_entry" add column "reference" text null`,
      `alter table "ledger_entry" add column "exact_kind" text null`,
      `drop index "ledger_entry_order_unique"`,
      `create table "payment_return" (
        "id" text not null,
        "kind" text not null,
        "payment_id" text null,
        "order_id" text null,
        "at" datetime null,
        "cents" integer null,
        "credits" integer null,
        "reason" text null,
        "transfers" integer null,
        "state" text null,
        "state_at" datetime null,
        "recorded_at" datetime not null,
        constraint "payment_return_order_id_foreign" foreign key("order_id") references "credit_order"("id") on delete restrict on update restrict,
        primary key ("id")
      )`,
      ...INDEXES,
    ],
    postgresql: [
      `alter table "account" add column "debt" int not null default 0, add column "open_disputes" int not null default 0`,
      `alter table "credit_order" add column "payment_id" varchar(255) null, add column "taken_back" int not null default 0, add column "returned" varchar(16) not null default 'paid', add column "dispute" varchar(16) not null default 'none', add column "return_reason" varchar(200) null`,
      `alter table "ledger_entry" add column "reference" varchar(100) null, add column "exact_kind" varchar(16) null`,
      `alter table "ledger_entry" drop constraint "ledger_entry_order_unique"`,
      `create table "payment_return" (
        "id" varchar(255) not null,
        "kind" varchar(16) not null,
        "payment_id" varchar(255) null,
        "order_id" varchar(40) null,
        "at" timestamptz(3) null,
        "cents" int null,
        "credits" int null,
        "reason" varchar(200) null,
        "transfers" int null,
        "state" varchar(16) null,
        "state_at" timestamptz(3) null,
        "recorded_at" timestamptz(3) not null,
        constraint "payment_return_pkey" primary key ("id")
      )`,
      `alter table "payment_return" add constraint "payment_return_order_id_foreign" foreign key ("order_id") references "credit_order" ("id") on update restrict on delete restrict`,
      ...INDEXES,
    ],
  },
};
