import type { Step } from "./step.js";

/** Older versions make no tiles, and leave those of a panorama behind that they delete or rename. */
export const tilesStep: Step = {
  name: "038-tiles-compatible",
  up: {
    sqlite: [`alter table "task" add column "has_tiles" integer null`],
    postgresql: [`alter table "task" add column "has_tiles" boolean null`],
  },
};
