/*
 * The package panorama-meter: credits, limits and idempotency for any product. This is all that it exports; the stores
 * in databases are `panorama-meter/postgres` and `panorama-meter/sqlite`.
 */
import type { Result } from "neverthrow";

export { memoryMeterStore as memory } from "../../adapters/memory/stores/memory-meter-store.js";
export {
  type Adjustment,
  type AlreadyResolved,
  type CapturedRefund,
  type HoldRefusal,
  type HoldRequest,
  type JoiningMeter,
  type Meter,
  type MeterEvent,
  type MeterReporter,
  meter,
  type NotCaptured,
  type TaskHold,
} from "../../application/credits/meter.js";
export type {
  JoiningMeterStore,
  MeterChange,
  MeterLine,
  MeterQuery,
  MeterReading,
  MeterRecord,
  MeterStore,
} from "../../application/ports/stores/meter-store.js";
export type { Hold } from "../../domain/credits/hold.js";
export { type LedgerCursor, ledgerCursor } from "../../domain/credits/ledger.js";
export type { MeterEntry } from "../../domain/credits/meter-entry.js";
export { definePolicy, type Policy, type PolicyDefinition } from "../../domain/credits/policy.js";
export type { Result };
