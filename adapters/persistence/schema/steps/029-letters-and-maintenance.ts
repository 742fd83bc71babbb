import type { Step } from "./step.js";

/** Older versions send their letters without the table, and do not know of a maintenance. */
export const lettersAndMaintenance: Step = {
  name: "029-letters-and-maintenance-compatible",
  up: {
    sqlite: [
      `create table "letter" (
        "id" text not null primary key,
        "kind" text not null,
        "recipient" text not null,
        "attempt" integer not null,
        "due_at" datetime not null
      )`,
      `create index "letter_due_at_index" on "letter" ("due_at")`,
      `create table "maintenance" (
        "id" integer not null primary key,
        "message" text not null,
        "since" datetime not null
      )`,
    ],
    postgresql: [
      `create table "letter" (
        "id" varchar(64) not null,
        "kind" varchar(32) not null,
        "recipient" text not null,
        "attempt" int not null,
        "due_at" timestamptz(3) not null,
        constraint "letter_pkey" primary key ("id")
      )`,
      `create index "letter_due_at_index" on "letter" ("due_at")`,
      `create table "maintenance" (
        "id" int not null,
        "message" text not null,
        "since" timestamptz(3) not null,
        constraint "maintenance_pkey" primary key ("id")
      )`,
    ],
  },
};
