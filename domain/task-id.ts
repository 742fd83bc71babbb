import type { Brand } from "./brand.js";

export type TaskId = Brand<string, "TaskId">;

/** A text from a request, if it can be a task's id at all: what cannot is not looked up. */
export const parseTaskId = (text: string): TaskId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as TaskId) : undefined;
