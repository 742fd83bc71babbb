import type { Step } from "./step.js";

/** Older versions neither read nor write the columns. */
export const generationCosts: Step = {
  name: "027-generation-costs-compatible",
  up: {
    sqlite: [
      `alter table "task" add column "cost_micros" double null`,
      `alter table "task" add column "cost_currency" text null`,
      "create index task_reserved_index on task (coalesce(reserved_at, failed_at))",
    ],
    postgresql: [
      `alter table "task" add column "cost_micros" double precision null, add column "cost_currency" varchar(3) null`,
      "create index task_reserved_index on task (coalesce(reserved_at, failed_at))",
    ],
  },
};
