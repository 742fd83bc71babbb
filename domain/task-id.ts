import { type Brand, valueOrThrow } from "./brand.js";

/** Identifies a task. */
export type TaskId = Brand<string, "TaskId">;

/** Returns `undefined` for text that cannot be a task id, so no lookup is made. */
export const parseTaskId = (text: string): TaskId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as TaskId) : undefined;

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const taskId = (text: string): TaskId =>
  valueOrThrow(parseTaskId(text), text, "a task id: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -");
