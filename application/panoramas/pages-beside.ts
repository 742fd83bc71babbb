import type { TaskId } from "../../domain/task-id.js";

/** The pages beside a page of tasks, which are ordered by their ids. */
export type PagesBeside = {
  /** `before` for the page with older tasks; `undefined` if there are none. */
  readonly next: TaskId | undefined;
  /** `after` for the page with newer tasks; `undefined` if there are none. */
  readonly newer: TaskId | undefined;
};
