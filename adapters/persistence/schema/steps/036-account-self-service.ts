import { TO_BE_ERASED } from "../indexed-conditions.js";
import type { Step } from "./step.js";

const INDEX = `create index account_to_be_erased_index on account (closed_at) where ${TO_BE_ERASED}`;

/** An older version sends no letter that confirms an address, and does not complete the erasure of an account. */
export const accountSelfService: Step = {
  name: "036-account-self-service-compatible",
  up: {
    sqlite: [
      `alter table "letter" add column "account_id" text null`,
      `alter table "account" add column "erased_at" datetime null`,
      INDEX,
    ],
    postgresql: [
      `alter table "letter" add column "account_id" varchar(40) null`,
      `alter table "account" add column "erased_at" timestamptz(3) null`,
      INDEX,
    ],
  },
};
