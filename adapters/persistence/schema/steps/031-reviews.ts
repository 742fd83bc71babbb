import type { Step } from "./step.js";

/** An older version makes a panorama public that it shows again after a review, also if it was private before. */
export const reviews: Step = {
  name: "031-reviews-compatible",
  up: {
    sqlite: [
      `alter table "task" add column "review_since" datetime null`,
      `alter table "task" add column "visibility_after_review" text null`,
      `create index task_review_index on task (review_since, id) where review_since is not null`,
    ],
    postgresql: [
      `alter table "task" add column "review_since" timestamptz(3) null, add column "visibility_after_review" varchar(16) null`,
      `create index task_review_index on task (review_since, id) where review_since is not null`,
    ],
  },
};
