import type { LedgerEntry } from "../../domain/ledger.js";
import { branded, date, integer, oneOf, type Row } from "./columns.js";

const KINDS: readonly LedgerEntry["kind"][] = ["purchase", "reservation", "refund"];

export const entryRow = (entry: LedgerEntry): Row => ({
  account_id: entry.accountId,
  kind: entry.kind,
  credits: entry.credits,
  task_id: entry.kind === "purchase" ? null : entry.taskId,
  order_id: entry.kind === "purchase" ? entry.orderId : null,
  at: entry.at,
});

export const toLedgerEntry = (row: Row): LedgerEntry => {
  const core = {
    accountId: branded<LedgerEntry["accountId"]>(row, "account_id"),
    credits: integer(row, "credits"),
    at: date(row, "at"),
  };
  const kind = oneOf(row, "kind", KINDS);
  return kind === "purchase"
    ? { ...core, kind, orderId: branded(row, "order_id") }
    : { ...core, kind, taskId: branded(row, "task_id") };
};
