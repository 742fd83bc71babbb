import type { Metadata } from "../../../domain/tasks/metadata.js";
import type { OpenedTask } from "../../../domain/tasks/open-task.js";
import type { FailedTask, Task } from "../../../domain/tasks/task.js";
import type { Row } from "../database/sql/columns.js";

/** The row of a new task. All other columns are null. */
export const newTaskRow = (task: OpenedTask["task"], dueAt: Date): Row => ({
  id: task.id,
  account_id: task.accountId,
  slug: task.slug,
  resolution: task.request.resolution,
  prompt: task.request.prompt ?? null,
  image_urls: JSON.stringify(task.request.imageUrls),
  visibility: task.request.visibility,
  seed: task.request.seed ?? null,
  metadata: metadataColumn(task.request.metadata),
  webhook_url: task.request.webhookUrl ?? null,
  credits: task.reservation.credits,
  api_key_id: task.apiKeyId ?? null,
  traceparent: task.traceparent ?? null,
  reserved_at: task.reservedAt,
  due_at: dueAt,
  fence: 0,
  ...stateColumns(task),
});

const metadataColumn = (metadata: Metadata): string | null =>
  Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);

/** One row for each pair, by which the list of tasks is filtered. */
export const metadataRows = ({ id, accountId, request }: Pick<Task, "id" | "accountId" | "request">): Row[] =>
  Object.entries(request.metadata).map(([key, value]) => ({ account_id: accountId, key, value, task_id: id }));

/** A provider may answer with a whole page. */
const DETAIL_CHARACTERS_MAX = 1000;
const PROBLEM_CHARACTERS_MAX = 200;

/**
 * The columns that the task's state sets. Columns of earlier states keep their values, so that the row of a failed task
 * still shows the upstream task id to an operator.
 */
export function stateColumns(task: Task): Row {
  const { state } = task;
  switch (state) {
    case "queued":
      return { state, turn: task.turn, submissions: task.submissions, place: null };
    case "submitting":
      return { state, turn: task.turn ?? null, submissions: task.submissions, place: task.place ?? null };
    case "submitted":
      return {
        state,
        submitted_at: task.submittedAt,
        upstream_task_id: task.upstreamTaskId,
        ...(task.cancelRequest?.refusedAt && { cancel_refused_at: task.cancelRequest.refusedAt }),
      };
    case "generated":
      return { state, submitted_at: task.submittedAt, temporary_url: task.temporaryUrl };
    case "succeeded":
      return {
        state,
        succeeded_at: task.succeededAt,
        storage_status: task.image.status,
        temporary_url: task.image.temporaryUrl,
        image_name: task.image.imageName,
        failed_attempts: task.image.status === "uploading" ? task.image.failedAttempts : null,
        native_width: task.nativeSize.widthPixels,
        native_height: task.nativeSize.heightPixels,
        source_type: task.sourceType ?? null,
        ...figuresColumn(task),
      };
    case "failed":
      return {
        state,
        failed_at: task.failedAt,
        failure_reason: task.reason,
        failure_image: task.imageIndex ?? null,
        failure_image_problem: task.imageProblem?.slice(0, PROBLEM_CHARACTERS_MAX) ?? null,
        failure_detail: task.detail?.slice(0, DETAIL_CHARACTERS_MAX) ?? null,
        ...figuresColumn(task),
      };
  }
}

/** A task that was read by id has none, so that their column keeps its value. */
const figuresColumn = ({ figures }: Pick<FailedTask, "figures">): Row =>
  figures === undefined ? {} : { result_figures: JSON.stringify(figures) };
