import type { Step } from "./step.js";

/** An older version shows no hotspots, and leaves them in the row of a panorama whose texts it erases. */
export const hotspotsStep: Step = {
  name: "039-hotspots-compatible",
  up: {
    sqlite: [`alter table "task" add column "hotspots" text null`],
    postgresql: [`alter table "task" add column "hotspots" text null`],
  },
};
