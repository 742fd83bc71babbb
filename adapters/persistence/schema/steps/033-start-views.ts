import type { Step } from "./step.js";

/** An older version shows the middle of each panorama first. */
export const startViews: Step = {
  name: "033-start-views-compatible",
  up: {
    sqlite: [`alter table "task" add column "start_view" text null`],
    postgresql: [`alter table "task" add column "start_view" varchar(24) null`],
  },
};
