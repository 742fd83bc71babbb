import type { Step } from "./step.js";

const indexes = [
  `create index task_kept_name_index on task (image_name) where kept_until is not null`,
  `create index task_kept_until_index on task (kept_until) where kept_until is not null`,
];

/** What an older version deletes is not kept, and it erases what a newer one keeps. */
export const keptImages: Step = {
  name: "037-kept-images-compatible",
  up: {
    sqlite: [`alter table "task" add column "kept_until" datetime null`, ...indexes],
    postgresql: [`alter table "task" add column "kept_until" timestamptz(3) null`, ...indexes],
  },
};
