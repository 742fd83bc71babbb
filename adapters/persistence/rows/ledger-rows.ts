import type { AdjustmentReason, AdjustmentReference, LedgerEntry } from "../../../domain/credits/ledger.js";
import { branded, date, integer, oneOf, type Row } from "../sql/columns.js";

const KINDS: readonly LedgerEntry["kind"][] = [
  "purchase",
  "reservation",
  "refund",
  "adjustment",
  "payment_refund",
  "payment_restored",
  "debt",
];

/**
 * Kinds that version 2.0 does not know. They are stored as adjustments with a reason, which that version reads and sums
 * up; `exact_kind` tells the kind.
 */
export const REASON_OF_KIND = {
  payment_refund: "Payment returned",
  payment_restored: "Payment restored",
  debt: "Debt",
} as const;

export const entryRow = (entry: LedgerEntry): Row => ({
  account_id: entry.accountId,
  ...kindColumns(entry.kind),
  credits: entry.credits,
  task_id: "taskId" in entry ? entry.taskId : null,
  order_id: "orderId" in entry ? entry.orderId : null,
  at: entry.at,
  ...(entry.kind === "adjustment" && { reason: entry.reason }),
  ...("reference" in entry && entry.reference !== undefined && { reference: entry.reference }),
});

const kindColumns = (kind: LedgerEntry["kind"]): Row =>
  kind === "payment_refund" || kind === "payment_restored" || kind === "debt"
    ? { kind: "adjustment", exact_kind: kind, reason: REASON_OF_KIND[kind] }
    : { kind };

export const toLedgerEntry = (row: Row): LedgerEntry => {
  const core = {
    accountId: branded<LedgerEntry["accountId"]>(row, "account_id"),
    credits: integer(row, "credits"),
    at: date(row, "at"),
  };
  const kind = oneOf(row, typeof row.exact_kind === "string" ? "exact_kind" : "kind", KINDS);
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
};
