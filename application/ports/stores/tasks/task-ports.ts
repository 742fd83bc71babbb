import type { TaskLists } from "./task-lists.js";
import type { TaskQueue } from "./task-queue.js";
import type { TaskStore } from "./task-store.js";
import type { TaskWork } from "./task-work.js";

/** All ports of tasks, for what puts the application together. A use case takes those that it uses. */
export type TaskPorts = TaskStore & TaskQueue & TaskWork & TaskLists;
