import type { Step } from "./step.js";

/** Older versions record no files, and sign none. */
export const provenanceStep: Step = {
  name: "030-provenance-compatible",
  up: {
    sqlite: [
      `create table "installation_secret" (
        "name" text not null primary key,
        "value" text not null
      )`,
      `create table "made_file" (
        "digest" text not null primary key,
        "provider" text not null,
        "made_at" datetime not null
      )`,
    ],
    postgresql: [
      `create table "installation_secret" (
        "name" varchar(64) not null,
        "value" text not null,
        constraint "installation_secret_pkey" primary key ("name")
      )`,
      `create table "made_file" (
        "digest" varchar(64) not null,
        "provider" text not null,
        "made_at" timestamptz(3) not null,
        constraint "made_file_pkey" primary key ("digest")
      )`,
    ],
  },
};
