import { insert } from "../../adapters/persistence/database/sql/statement.js";
import { updateSearch } from "../../adapters/persistence/tasks/search-rows.js";
import { newTaskRow, stateColumns } from "../../adapters/persistence/tasks/task-columns.js";
import type { OpenedTask } from "../../domain/tasks/open-task.js";
import type { Task } from "../../domain/tasks/task.js";
import type { AnyDatabase } from "./sql-stores.js";

/** A task for which no work is due, as if it had come into its state long ago. Its account must exist. */
export const putTask = async ({ sql, dialect }: AnyDatabase, task: Task, deletedAt?: Date): Promise<void> => {
  const submitted = "submittedAt" in task ? task : undefined;
  await insert(sql, "task", {
    ...newTaskRow({ ...task, traceparent: undefined } as OpenedTask["task"], new Date(0)),
    submitted_at: submitted?.submittedAt ?? null,
    upstream_task_id: submitted?.upstreamTaskId ?? null,
    ...stateColumns(task),
    due_at: null,
    deleted_at: deletedAt ?? null,
  });
  await updateSearch(sql, dialect, [task.id]);
};

/** Changes a task without an event. */
export const changeTask = async ({ sql, dialect }: AnyDatabase, task: Task): Promise<void> => {
  const columns = Object.entries(stateColumns(task));
  const assigned = columns.map(([column]) => `${column} = ?`).join(", ");
  await sql(`update task set ${assigned} where id = ?`, [...columns.map(([, value]) => value), task.id]);
  await updateSearch(sql, dialect, [task.id]);
};
