import type { Step } from "./step.js";

/** What an older version hides keeps the names of its files, and it ends the work on a task that is to be renamed. */
export const nextImageNames: Step = {
  name: "035-next-image-names-compatible",
  up: {
    sqlite: [`alter table "task" add column "next_image_name" text null`],
    postgresql: [`alter table "task" add column "next_image_name" varchar(128) null`],
  },
};
