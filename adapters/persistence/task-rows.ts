import type { CreationRequest } from "../../domain/creation-request.js";
import { credits } from "../../domain/credits.js";
import { RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import type { StorageStatus, StoredImage } from "../../domain/storage-status.js";
import type { FailureReason, OpenedTask, Task } from "../../domain/task.js";
import type { Visibility } from "../../domain/visibility.js";
import { branded, date, integer, oneOf, optional, type Row, text, texts } from "./columns.js";

const TASK_STATES: readonly Task["state"][] = ["queued", "reserved", "submitted", "succeeded", "failed"];
const VISIBILITIES: readonly Visibility[] = ["private", "public"];
const STORAGE_STATUSES: readonly StorageStatus[] = ["uploading", "saved", "saved-no-thumb", "failed", "expired"];
const FAILURE_REASONS: readonly FailureReason[] = [
  "never_started",
  "refused",
  "submission_unknown",
  "never_submitted",
  "generation_failed",
  "deadline_passed",
];

export const toTask = (row: Row): Task => {
  const core = {
    id: branded<Task["id"]>(row, "id"),
    accountId: branded<Task["accountId"]>(row, "account_id"),
    slug: branded<Task["slug"]>(row, "slug"),
    request: toRequest(row),
    reservedAt: date(row, "reserved_at"),
  };
  const reserved = { taskId: core.id, accountId: core.accountId, credits: credits(integer(row, "credits")) };
  const state = oneOf(row, "state", TASK_STATES);
  switch (state) {
    case "queued":
      return { ...core, state, reservation: { ...reserved, state: "held" }, turn: integer(row, "turn") };
    case "reserved":
      return { ...core, state, wasQueued: row.turn !== null, reservation: { ...reserved, state: "held" } };
    case "submitted":
      return { ...core, ...toAccepted(row), state, reservation: { ...reserved, state: "held" } };
    case "succeeded":
      return {
        ...core,
        ...toAccepted(row),
        state,
        reservation: { ...reserved, state: "captured" },
        succeededAt: date(row, "succeeded_at"),
        image: toImage(row),
      };
    case "failed":
      return {
        ...core,
        state,
        reservation: { ...reserved, state: "refunded" },
        failedAt: date(row, "failed_at"),
        reason: oneOf(row, "failure_reason", FAILURE_REASONS),
      };
  }
};

/** The request was parsed before it was stored. */
const toRequest = (row: Row): CreationRequest =>
  ({
    resolution: oneOf(row, "resolution", Object.keys(RESOLUTIONS) as Resolution[]),
    prompt: optional(row, "prompt", text),
    imageUrls: texts(row, "image_urls"),
    visibility: oneOf(row, "visibility", VISIBILITIES),
  }) as CreationRequest;

const toAccepted = (row: Row) => ({
  submittedAt: date(row, "submitted_at"),
  upstreamTaskId: text(row, "upstream_task_id"),
});

const toImage = (row: Row): StoredImage => {
  const core = {
    temporaryUrl: text(row, "temporary_url"),
    imageName: branded<StoredImage["imageName"]>(row, "image_name"),
  };
  const status = oneOf(row, "storage_status", STORAGE_STATUSES);
  return status === "uploading"
    ? { ...core, status, failedAttempts: integer(row, "failed_attempts") }
    : { ...core, status };
};

/** The row of a new task. All other columns are null. */
export const newTaskRow = (task: OpenedTask["task"], dueAt: Date): Row => ({
  id: task.id,
  account_id: task.accountId,
  slug: task.slug,
  resolution: task.request.resolution,
  prompt: task.request.prompt ?? null,
  image_urls: JSON.stringify(task.request.imageUrls),
  visibility: task.request.visibility,
  credits: task.reservation.credits,
  reserved_at: task.reservedAt,
  due_at: dueAt,
  fence: 0,
  turn: task.state === "queued" ? task.turn : null,
  ...stateColumns(task),
});

/**
 * The columns that the task's state sets. Columns of earlier states keep their values, so that the row of a failed task
 * still shows the upstream task id to an operator.
 */
export const stateColumns = (task: Task): Row => {
  const { state } = task;
  switch (state) {
    case "queued":
    case "reserved":
      return { state };
    case "submitted":
      return { state, submitted_at: task.submittedAt, upstream_task_id: task.upstreamTaskId };
    case "succeeded":
      return {
        state,
        succeeded_at: task.succeededAt,
        storage_status: task.image.status,
        temporary_url: task.image.temporaryUrl,
        image_name: task.image.imageName,
        failed_attempts: task.image.status === "uploading" ? task.image.failedAttempts : null,
      };
    case "failed":
      return { state, failed_at: task.failedAt, failure_reason: task.reason };
  }
};
