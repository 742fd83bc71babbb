import type { AccountId } from "../../domain/account.js";
import type { TaskFilter } from "../../domain/task-filter.js";

/** Where a list of tasks reads, and the column with the ids by which it is ordered. */
export type Source = { readonly tables: string; readonly id: string };

export const TASKS: Source = { tables: "task", id: "task.id" };

/** The range of one pair of metadata has the tasks in their order, so a page reads only as many of them as it needs. */
const BY_METADATA: Source = {
  tables: "task_metadata as pair join task on task.id = pair.task_id",
  id: "pair.task_id",
};

const STATES: Readonly<Record<NonNullable<TaskFilter["status"]>, string>> = {
  processing: "task.state in ('queued', 'reserved', 'submitted', 'generated')",
  succeeded: "task.state = 'succeeded'",
  failed: "task.state = 'failed'",
};

type Filtered = { readonly from: Source; readonly conditions: string; readonly parameters: readonly unknown[] };

/** The tasks of an account that are not hidden and match the filter (domain/task-filter.ts). */
export const filtered = (owner: AccountId, filter: TaskFilter): Filtered => {
  const { status, visibility, createdAfter, createdBefore, metadata = {} } = filter;
  const [first, ...others] = Object.entries(metadata);
  const conditions: string[] = [];
  const parameters: unknown[] = [];
  const add = (condition: string, ...values: readonly unknown[]) => {
    conditions.push(condition);
    parameters.push(...values);
  };
  if (first !== undefined) add("pair.account_id = ? and pair.key = ? and pair.value = ?", owner, ...first);
  for (const pair of others) {
    add(
      `exists (select 1 from task_metadata as other
        where other.account_id = ? and other.key = ? and other.value = ? and other.task_id = task.id)`,
      owner,
      ...pair,
    );
  }
  add("task.account_id = ? and task.hidden_at is null", owner);
  if (status !== undefined) add(STATES[status]);
  // Without a parameter, so that the partial index of public tasks applies.
  if (visibility !== undefined) add(`task.visibility = '${visibility}'`);
  if (createdAfter !== undefined) add("task.reserved_at > ?", createdAfter);
  if (createdBefore !== undefined) add("task.reserved_at < ?", createdBefore);
  return { from: first === undefined ? TASKS : BY_METADATA, conditions: conditions.join(" and "), parameters };
};
