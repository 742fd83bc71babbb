import type { Brand } from "./brand.js";

export type TaskId = Brand<string, "TaskId">;

/** Returns `undefined` for text that cannot be a task id, so no lookup is made. */
export const parseTaskId = (text: string): TaskId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as TaskId) : undefined;
