import { paymentReturns } from "./steps/026-payment-returns-compatible.js";
import { generationCosts } from "./steps/027-generation-costs.js";
import { operatorsStep } from "./steps/028-operators.js";
import { lettersAndMaintenance } from "./steps/029-letters-and-maintenance.js";
import { provenanceStep } from "./steps/030-provenance.js";
import { reviews } from "./steps/031-reviews.js";
import { takedownStep } from "./steps/032-takedown.js";
import { startViews } from "./steps/033-start-views.js";
import { ordersToConfirm } from "./steps/034-orders-to-confirm.js";
import { nextImageNames } from "./steps/035-next-image-names.js";
import { accountSelfService } from "./steps/036-account-self-service.js";
import { keptImages } from "./steps/037-kept-images.js";
import { tilesStep } from "./steps/038-tiles.js";
import { hotspotsStep } from "./steps/039-hotspots.js";
import { firstSteps } from "./steps/first-steps.js";
import type { Step } from "./steps/step.js";

/**
 * Never edit a released step: add a new one, in a file of its own, to change the tables. The statements are the output
 * of the schema generator for schema.ts, plus triggers, which it does not support.
 */
export const migrationSteps: readonly Step[] = [
  ...firstSteps,
  paymentReturns,
  generationCosts,
  operatorsStep,
  lettersAndMaintenance,
  provenanceStep,
  reviews,
  takedownStep,
  startViews,
  ordersToConfirm,
  nextImageNames,
  accountSelfService,
  keptImages,
  tilesStep,
  hotspotsStep,
];

/** The migrator records here which steps have run. */
export const MIGRATION_TABLE = "schema_migration";

/** PostgreSQL's advisory lock of whoever migrates. An arbitrary number, the same in every version. */
export const MIGRATION_LOCK = 727_274;

/** The steps that have not run yet, given the rows of `MIGRATION_TABLE`. */
export const pendingSteps = (
  rows: readonly { readonly name?: unknown }[],
  steps: readonly Step[] = migrationSteps,
): readonly Step[] => {
  const done = new Set(rows.map(({ name }) => name));
  return steps.filter(({ name }) => !done.has(name));
};

/**
 * The recorded steps that this version does not know and that are not compatible: a later version has made them. Only
 * the author of a step can tell whether an earlier version works with it, and the name is all that an earlier version
 * sees.
 */
export const unknownSteps = (
  rows: readonly { readonly name?: unknown }[],
  known: readonly Step[],
): readonly string[] => {
  const names = new Set<unknown>(known.map(({ name }) => name));
  return rows.map(({ name }) => String(name)).filter((name) => !names.has(name) && !name.endsWith("-compatible"));
};
