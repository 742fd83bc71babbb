import type { AdjustmentReason, AdjustmentReference } from "../../../domain/credits/adjustment.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import { branded, date, integer, oneOf, type Row } from "../database/sql/columns.js";

const KINDS: readonly LedgerEntry["kind"][] = [
  "purchase",
  "reservation",
  "refund",
  "adjustment",
  "payment_refund",
  "payment_restored",
  "debt",
];

export const entryRow = (entry: LedgerEntry): Row => ({
  account_id: entry.accountId,
  kind: entry.kind,
  credits: entry.credits,
  task_id: "taskId" in entry ? entry.taskId : null,
  order_id: "orderId" in entry ? entry.orderId : null,
  at: entry.at,
  ...(entry.kind === "adjustment" && { reason: entry.reason }),
  ...("reference" in entry && entry.reference !== undefined && { reference: entry.reference }),
});

export function toLedgerEntry(row: Row): LedgerEntry {
  const core = {
    accountId: branded<LedgerEntry["accountId"]>(row, "account_id"),
    credits: integer(row, "credits"),
    at: date(row, "at"),
  };
  const kind = oneOf(row, "kind", KINDS);
  switch (kind) {
    case "debt":
      return { ...core, kind };
    case "purchase":
    case "payment_refund":
    case "payment_restored":
      return { ...core, kind, orderId: branded(row, "order_id") };
    case "adjustment": {
      const reason = branded<AdjustmentReason>(row, "reason");
      // The ledger of a meter has none.
      const reference =
        typeof row.reference === "string" ? { reference: branded<AdjustmentReference>(row, "reference") } : {};
      return { ...core, kind, reason, ...reference };
    }
    case "reservation":
    case "refund":
      return { ...core, kind, taskId: branded(row, "task_id") };
  }
}
