import type { Step } from "./step.js";

const INDEXES = [`create index "api_key_prefix_index" on "api_key" ("prefix")`];

/**
 * Older versions neither read nor write these columns and tables: keys that they create have no prefix, tasks that they
 * move have no times of the stages. While they run beside this version, an owner can publish a withheld panorama again.
 */
export const operatorsStep: Step = {
  name: "028-operators-compatible",
  up: {
    sqlite: [
      `alter table "api_key" add column "prefix" text null`,
      `alter table "task" add column "started_at" datetime null`,
      `alter table "task" add column "generated_at" datetime null`,
      `alter table "task" add column "saved_at" datetime null`,
      `alter table "task" add column "expired_at" datetime null`,
      `alter table "task" add column "failure_detail" text null`,
      `alter table "task" add column "deleted_by" text null`,
      `alter table "task" add column "withheld_at" datetime null`,
      `alter table "task" add column "withheld_reason" text null`,
      ...INDEXES,
      `create table "operator_login" (
        "name" text not null primary key,
        "password_hash" text not null,
        "code_secret" text not null,
        "code_step" integer not null,
        "created_at" datetime not null
      )`,
      `create table "operator_session" (
        "token_sha256" text not null primary key,
        "operator" text not null,
        "expires_at" datetime not null
      )`,
    ],
    postgresql: [
      `alter table "api_key" add column "prefix" varchar(16) null`,
      `alter table "task" add column "started_at" timestamptz(3) null, add column "generated_at" timestamptz(3) null, add column "saved_at" timestamptz(3) null, add column "expired_at" timestamptz(3) null, add column "failure_detail" text null, add column "deleted_by" varchar(64) null, add column "withheld_at" timestamptz(3) null, add column "withheld_reason" varchar(200) null`,
      ...INDEXES,
      `create table "operator_login" (
        "name" varchar(64) not null,
        "password_hash" varchar(255) not null,
        "code_secret" varchar(64) not null,
        "code_step" int not null,
        "created_at" timestamptz(3) not null,
        constraint "operator_login_pkey" primary key ("name")
      )`,
      `create table "operator_session" (
        "token_sha256" varchar(64) not null,
        "operator" varchar(64) not null,
        "expires_at" timestamptz(3) not null,
        constraint "operator_session_pkey" primary key ("token_sha256")
      )`,
    ],
  },
};
