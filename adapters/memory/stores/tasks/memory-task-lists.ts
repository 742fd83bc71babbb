import type { TaskLists } from "../../../../application/ports/stores/tasks/task-lists.js";
import type { TaskId } from "../../../../domain/ids.js";
import { isFoundBy } from "../../../../domain/tasks/prompt-search.js";
import { isInGallery, type SucceededTask, type Task } from "../../../../domain/tasks/task.js";
import { matchesFilter } from "../../../../domain/tasks/task-filter.js";
import type { MemoryDatabase } from "../memory-database.js";
import { imageStatus, type MemoryTaskContext } from "./memory-task-rows.js";

/** Lists of tasks in memory. */
export const memoryTaskLists = ({ database }: MemoryTaskContext): TaskLists => ({
  list: async (owner, limit, beyond, { filter = {}, first = "newest" } = {}) => {
    const wanted = (task: Task): task is Task => task.accountId === owner && matchesFilter(task, filter);
    return inOrder(database, { first, limit, beyond }, wanted);
  },
  listPublic: async (limit, beyond, first = "newest") => inOrder(database, { first, limit, beyond }, isInGallery),
  searchPublic: async (words, limit, beyond, first = "newest") => {
    const isFound = (task: Task): task is SucceededTask =>
      isInGallery(task) && isFoundBy(words, task.request.prompt ?? "");
    return inOrder(database, { first, limit, beyond }, isFound);
  },
  listFailedImages: async (limit, beyond) => {
    const hasFailed = (task: Task): task is SucceededTask => imageStatus(task) === "failed";
    return inOrder(database, { first: "newest", limit, beyond }, hasFailed);
  },
});

/** The part of a list that is read: it begins at one of its ends, or beyond a task. */
type Part = { readonly first: "newest" | "oldest"; readonly limit: number; readonly beyond: TaskId | undefined };

const inOrder = <T extends Task>(
  database: MemoryDatabase,
  { first, limit, beyond }: Part,
  wanted: (task: Task) => task is T,
): T[] => {
  const comesFirst = (one: TaskId, other: TaskId) => (first === "newest" ? one > other : one < other);
  return [...database.tasks.values()]
    .filter(({ task, hidden }) => !hidden && (beyond === undefined || comesFirst(beyond, task.id)))
    .map(({ task }) => task)
    .filter(wanted)
    .sort((a, b) => (comesFirst(a.id, b.id) ? -1 : 1))
    .slice(0, limit);
};
