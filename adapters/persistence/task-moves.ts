import { err, ok, type Result } from "neverthrow";
import type { Lease, StaleTask } from "../../application/ports/task-store.js";
import { refundEntry } from "../../domain/ledger.js";
import { isActive, isRefusedCreation, type Task } from "../../domain/task.js";
import type { Database, Sql } from "./database.js";
import { entryRow } from "./ledger-rows.js";
import { releaseReferences } from "./reference-rows.js";
import { giveBack } from "./spending-rows.js";
import { insertion, type Statement, update } from "./statement.js";
import { stateColumns } from "./task-rows.js";
import { writeInOneRoundTrip } from "./write-in-one-round-trip.js";

/** `TaskStore.move`. */
export const moveTask = async (
  database: Database,
  current: Task | Lease<Task>,
  next: Task,
  dueAt: Date | undefined,
): Promise<Result<void, StaleTask>> => {
  const before = "fence" in current ? current.task : current;
  // If the task stays active or was not active, only its own row changes: one statement without a transaction.
  if (!isActive(before) || isActive(next)) return replace(database.sql, current, next, dueAt);
  return database.transaction(async (sql) => {
    const replaced = await replace(sql, current, next, dueAt);
    if (replaced.isOk()) await writeInOneRoundTrip(sql, database.dialect, releases(before, next));
    return replaced;
  });
};

/**
 * Checks and writes in one statement. To compare state and submission is enough, because a task enters no state twice in
 * one submission. An image enters only `uploading` twice.
 */
export const replace = async (
  sql: Sql,
  current: Task | Lease<Task>,
  next: Task,
  dueAt: Date | undefined,
): Promise<Result<void, StaleTask>> => {
  const before = "fence" in current ? current.task : current;
  const changes = { ...stateColumns(next), due_at: dueAt ?? null };
  const conditions = {
    id: before.id,
    state: before.state,
    ...("submissions" in before && { submissions: before.submissions }),
    ...(before.state === "succeeded" && { storage_status: before.image.status }),
    ...("fence" in current && { fence: current.fence }),
  };
  const { text, parameters } = update("task", changes, conditions);
  const rows = await sql(`${text} returning id`, parameters);
  return rows.length === 1 ? ok(undefined) : err({ kind: "stale_task", id: before.id });
};

/**
 * Frees the account's slot. For a failed task, also refunds the credits to the account and its key, and releases its reference images and a refused
 * creation's key.
 */
const releases = (before: Task, next: Task): Statement[] => {
  const failed = next.state === "failed";
  const account = {
    text: "update account set credits = credits + ?, active_tasks = active_tasks - 1 where id = ?",
    parameters: [failed ? next.reservation.credits : 0, next.accountId],
  };
  if (!failed) return [account];
  const releases = [account, insertion("ledger_entry", entryRow(refundEntry(next.reservation, next.failedAt)))];
  releases.push(...giveBack(next));
  if (next.request.imageUrls.length > 0) releases.push(...releaseReferences(next, next.failedAt));
  if (isRefusedCreation(before, next)) {
    releases.push({ text: "delete from idempotency_key where task_id = ?", parameters: [next.id] });
  }
  return releases;
};
