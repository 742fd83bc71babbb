import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import { branded, date, integer, oneOf, type Row } from "../sql/columns.js";

const KINDS: readonly LedgerEntry["kind"][] = ["purchase", "reservation", "refund", "adjustment"];

export const entryRow = (entry: LedgerEntry): Row => ({
  account_id: entry.accountId,
  kind: entry.kind,
  credits: entry.credits,
  task_id: "taskId" in entry ? entry.taskId : null,
  order_id: entry.kind === "purchase" ? entry.orderId : null,
  at: entry.at,
  ...(entry.kind === "adjustment" && { reason: entry.reason }),
});

export const toLedgerEntry = (row: Row): LedgerEntry => {
  const core = {
    accountId: branded<LedgerEntry["accountId"]>(row, "account_id"),
    credits: integer(row, "credits"),
    at: date(row, "at"),
  };
  const kind = oneOf(row, "kind", KINDS);
  switch (kind) {
    case "purchase":
      return { ...core, kind, orderId: branded(row, "order_id") };
    case "adjustment":
      return { ...core, kind, reason: branded(row, "reason") };
    case "reservation":
    case "refund":
      return { ...core, kind, taskId: branded(row, "task_id") };
  }
};
