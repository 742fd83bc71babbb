import { expect, it } from "vitest";
import { entryRow, toLedgerEntry } from "../../../../adapters/persistence/rows/ledger-rows.js";
import type { LedgerEntry } from "../../../../domain/credits/ledger.js";
import { orderId } from "../../../../domain/credits/order.js";
import type { AccountId } from "../../../../domain/ids.js";

const core = { accountId: "acc_1" as AccountId, credits: -5, at: new Date("2026-05-03T12:00:00Z") };

it.each<LedgerEntry>([
  { ...core, kind: "payment_refund", orderId: orderId("ord_1") },
  { ...core, kind: "payment_restored", orderId: orderId("ord_1") },
  { ...core, kind: "debt" },
])("reads an entry of the kind $kind as it was stored", (entry) => {
  expect(toLedgerEntry({ ...entryRow(entry), at: entry.at.toISOString() })).toEqual(entry);
});
