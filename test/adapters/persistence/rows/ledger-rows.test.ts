import { expect, it } from "vitest";
import { entryRow, toLedgerEntry } from "../../../../adapters/persistence/rows/ledger-rows.js";
import type { AccountId } from "../../../../domain/account-id.js";
import type { LedgerEntry } from "../../../../domain/credits/ledger.js";
import { orderId } from "../../../../domain/credits/order.js";

const core = { accountId: "acc_1" as AccountId, credits: -5, at: new Date("2026-05-03T12:00:00Z") };

it.each<LedgerEntry>([
  { ...core, kind: "payment_refund", orderId: orderId("ord_1") },
  { ...core, kind: "payment_restored", orderId: orderId("ord_1") },
  { ...core, kind: "debt" },
])("stores $kind so that version 2.0 reads an adjustment with a reason, and this version what it was", (entry) => {
  const row = entryRow(entry);
  expect(row.kind).toBe("adjustment");
  expect(row.reason).toEqual(expect.stringMatching(/./));
  expect(toLedgerEntry({ ...row, at: entry.at.toISOString() })).toEqual(entry);
});
