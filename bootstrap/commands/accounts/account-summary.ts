import type { AccountSummary } from "../../../application/ports/stores/operator-store.js";

export const summaryJson = ({ account, standing, closedAt }: AccountSummary) => ({
  account_id: account.id,
  email: account.email,
  created_at: account.createdAt.toISOString(),
  closed_at: closedAt?.toISOString() ?? null,
  suspended_because: account.suspension?.reason ?? null,
  credits: standing.credits,
  active_tasks: standing.activeTasks,
});

export const summaryLine = ({ account, standing, closedAt }: AccountSummary): string =>
  [
    account.id,
    account.createdAt.toISOString(),
    closedAt !== undefined ? `closed ${closedAt.toISOString()}` : account.suspension ? "suspended" : "open",
    `${standing.credits} credits`,
    `${standing.activeTasks} active tasks`,
    account.email,
  ].join("  ");
