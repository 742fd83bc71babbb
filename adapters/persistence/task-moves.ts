import { err, ok, type Result } from "neverthrow";
import type { Lease, StaleTask } from "../../application/ports/task-store.js";
import { endOf, taskEventOf } from "../../domain/account-event.js";
import { refundEntry } from "../../domain/ledger.js";
import { isActive, isRefusedCreation, type Task } from "../../domain/task.js";
import type { Database, Sql } from "./database.js";
import { writeEvent } from "./event-rows.js";
import { entryRow } from "./ledger-rows.js";
import { releaseReferences } from "./reference-rows.js";
import { giveBack } from "./spending-rows.js";
import { insertion, type Statement, update } from "./statement.js";
import type { TaskObserver } from "./task-observer.js";
import { stateColumns } from "./task-rows.js";

/** `TaskStore.move`. */
export const moveTask = async (
  database: Database,
  current: Task | Lease<Task>,
  next: Task,
  dueAt: Date | undefined,
  observer?: TaskObserver,
): Promise<Result<void, StaleTask>> => {
  const before = "fence" in current ? current.task : current;
  const moved = await moveRows(database, current, before, next, dueAt);
  if (moved.isOk()) observer?.moved(before, next);
  else observer?.stale();
  return moved;
};

const moveRows = (
  database: Database,
  current: Task | Lease<Task>,
  before: Task,
  next: Task,
  dueAt: Date | undefined,
): Promise<Result<void, StaleTask>> => {
  const event = taskEventOf(before, next, new Date());
  // Without an event only the task's own row changes: one statement without a transaction.
  if (event === undefined || isActive(next)) return replace(database.sql, current, next, dueAt);
  return database.transaction(async (sql) => {
    const replaced = await replace(sql, current, next, dueAt);
    if (replaced.isErr()) return replaced;
    const delivery = { webhookUrl: before.request.webhookUrl, dueAt: endOf(next) };
    const { account, others } = isActive(before) ? releases(before, next) : NOTHING_RELEASED;
    await writeEvent(sql, database.dialect, event, delivery, account, others);
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

/** `account`: assignments to the account's row. `others`: further writes. */
type Releases = { readonly account: Statement | undefined; readonly others: readonly Statement[] };

const NOTHING_RELEASED: Releases = { account: undefined, others: [] };

/**
 * Frees the account's slot. For a failed task, also refunds the credits to the account and its key, and releases its
 * reference images and a refused creation's key.
 */
const releases = (before: Task, next: Task): Releases => {
  const failed = next.state === "failed";
  const account = {
    text: ", credits = credits + ?, active_tasks = active_tasks - 1",
    parameters: [failed ? next.reservation.credits : 0],
  };
  if (!failed) return { account, others: [] };
  const others = [insertion("ledger_entry", entryRow(refundEntry(next.reservation, next.failedAt)))];
  others.push(...giveBack(next));
  if (next.request.imageUrls.length > 0) others.push(...releaseReferences(next, next.failedAt));
  if (isRefusedCreation(before, next)) {
    others.push({ text: "delete from idempotency_key where task_id = ?", parameters: [next.id] });
  }
  return { account, others };
};
