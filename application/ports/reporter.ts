import type { StorageStatus } from "../../domain/storage-status.js";
import type { FailureReason } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";

/** What the operator should see in logs and metrics. No prompt, key or password is ever part of an event. */
export type OperationalEvent =
  /** The provider has no free place; the task waits for one. */
  | { readonly kind: "task_queued"; readonly taskId: TaskId }
  | { readonly kind: "task_submitted"; readonly taskId: TaskId; readonly upstreamTaskId: string }
  | { readonly kind: "task_succeeded"; readonly taskId: TaskId; readonly seconds: number }
  | { readonly kind: "task_failed"; readonly taskId: TaskId; readonly reason: FailureReason; readonly detail: string }
  /** An upstream task may be running for which nobody waits and nobody pays. */
  | { readonly kind: "possible_orphan"; readonly taskId: TaskId; readonly detail: string }
  /** The upstream task of a submission whose answer had been lost was found by our mark. */
  | { readonly kind: "submission_recovered"; readonly taskId: TaskId; readonly upstreamTaskId: string }
  | { readonly kind: "provider_unavailable"; readonly taskId: TaskId; readonly detail: string }
  | { readonly kind: "image_status"; readonly taskId: TaskId; readonly status: StorageStatus; readonly detail: string }
  /** Background work on one task threw; its lease runs out and it is tried again. */
  | { readonly kind: "work_failed"; readonly work: string; readonly taskId: TaskId; readonly error: unknown };

export interface Reporter {
  report(event: OperationalEvent): void;
}
