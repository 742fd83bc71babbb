import { APPROVED, FEATURED, OPEN_REPORT, WITHHELD } from "../indexed-conditions.js";
import type { Step } from "./step.js";

const INDEXES = [
  `create index task_withheld_image_index on task (image_name) where ${WITHHELD}`,
  `create index task_withheld_url_index on task (temporary_url) where ${WITHHELD}`,
  `create index task_featured_index on task (featured_at) where ${FEATURED}`,
  `create index task_approved_index on task (id) where ${APPROVED}`,
];
const REPORT_INDEX = `create index report_open_index on report (task_id, reported_at) where ${OPEN_REPORT}`;

/**
 * An older version serves the image files of hidden panoramas, admits the keys of suspended accounts, and shows every
 * public panorama in its gallery.
 */
export const takedownStep: Step = {
  name: "032-takedown-compatible",
  up: {
    sqlite: [
      `alter table "account" add column "suspended_at" datetime null`,
      `alter table "account" add column "suspension_reason" text null`,
      `alter table "task" add column "withheld_by" text null`,
      `alter table "task" add column "featured_at" datetime null`,
      `alter table "task" add column "approved_at" datetime null`,
      ...INDEXES,
      `create table "report" (
        "task_id" text not null,
        "network" text not null,
        "reason" text not null,
        "text" text null,
        "reported_at" datetime not null,
        "ended_at" datetime null,
        "outcome" text null,
        primary key ("task_id", "network")
      )`,
      REPORT_INDEX,
    ],
    postgresql: [
      `alter table "account" add column "suspended_at" timestamptz(3) null, add column "suspension_reason" varchar(200) null`,
      `alter table "task" add column "withheld_by" varchar(100) null, add column "featured_at" timestamptz(3) null, add column "approved_at" timestamptz(3) null`,
      ...INDEXES,
      `create table "report" (
        "task_id" varchar(40) not null,
        "network" varchar(64) not null,
        "reason" varchar(16) not null,
        "text" text null,
        "reported_at" timestamptz(3) not null,
        "ended_at" timestamptz(3) null,
        "outcome" varchar(16) null,
        constraint "report_pkey" primary key ("task_id", "network")
      )`,
      REPORT_INDEX,
    ],
  },
};
