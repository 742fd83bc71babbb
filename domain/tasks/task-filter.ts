import { type Metadata, sortedMetadata } from "./metadata.js";
import { statusOf, type Task } from "./task.js";
import type { Visibility } from "./visibility.js";

/** Narrows a list of tasks: a task must match every member. */
export type TaskFilter = {
  readonly status?: ReturnType<typeof statusOf>;
  readonly visibility?: Visibility;
  /** Created later than this, not at it. */
  readonly createdAfter?: Date;
  /** Created earlier than this, not at it. */
  readonly createdBefore?: Date;
  /** The task has at least these pairs. */
  readonly metadata?: Metadata;
};

/** True if the task matches every member of the filter. */
export const matchesFilter = (task: Task, filter: TaskFilter): boolean => {
  const { status, visibility, createdAfter, createdBefore, metadata = {} } = filter;
  return (
    (status === undefined || statusOf(task) === status) &&
    (visibility === undefined || task.request.visibility === visibility) &&
    (createdAfter === undefined || task.reservedAt > createdAfter) &&
    (createdBefore === undefined || task.reservedAt < createdBefore) &&
    Object.entries(metadata).every(([key, value]) => task.request.metadata[key] === value)
  );
};

/** The canonical text of a filter: equal for filters with the same meaning; `undefined` if every task matches. */
export const filterText = (filter: TaskFilter): string | undefined => {
  const { status, visibility, createdAfter, createdBefore, metadata = {} } = filter;
  const hasMetadata = Object.keys(metadata).length > 0;
  const members = {
    status,
    visibility,
    createdAfter,
    createdBefore,
    metadata: hasMetadata ? sortedMetadata(metadata) : undefined,
  };
  return Object.values(members).every((member) => member === undefined) ? undefined : JSON.stringify(members);
};
