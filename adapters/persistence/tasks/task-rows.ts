import type { ResultFigures } from "../../../domain/images/picture.js";
import { type PixelSize, RESOLUTIONS, type Resolution } from "../../../domain/images/resolution.js";
import { SOURCE_TYPES } from "../../../domain/images/source-type.js";
import { STORAGE_STATUSES, type StoredImage } from "../../../domain/images/storage-status.js";
import { isCancelable } from "../../../domain/tasks/cancel-request.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { NO_METADATA } from "../../../domain/tasks/metadata.js";
import { FAILURE_REASONS, TASK_STATES, type Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import {
  amount,
  branded,
  date,
  integer,
  jsonValue,
  oneOf,
  optional,
  pairs,
  type Row,
  text,
  texts,
} from "../database/sql/columns.js";

const VISIBILITIES: readonly Visibility[] = ["private", "public"];

/**
 * The columns of a poll, beside the account's id, which is the key's: the driver spends 0.1 µs on each. Those that no
 * poll shows are not read.
 */
export const POLL_COLUMNS =
  `id slug resolution prompt image_urls visibility seed metadata credits state turn submissions reserved_at
  submitted_at upstream_task_id succeeded_at failed_at failure_reason failure_image failure_image_problem
  storage_status temporary_url image_name failed_attempts native_width native_height source_type hidden_reason`
    .split(/\s+/)
    .map((column) => `task.${column}`)
    .join(", ");

/**
 * A poll omits the webhook, the key, the place, the trace context, the cancel request, the figures, the detail of a
 * failure, and the next name of an image: only background work, a cancellation, a deletion, operators and pages need
 * them.
 */
export function toTask(row: Row): Task {
  const task = withDetail(withFigures(withCancelRequest(toTaskWithoutTrace(row), row), row), row);
  const shown = typeof row.hidden_reason === "string" ? { ...task, hiddenReason: row.hidden_reason } : task;
  return typeof row.traceparent === "string" ? { ...shown, traceparent: row.traceparent } : shown;
}

/** A column that a poll omits. */
const ifRead = <T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined =>
  row[column] === undefined ? undefined : optional(row, column, read);

const withFigures = (task: Task, row: Row): Task =>
  typeof row.result_figures === "string" && (task.state === "succeeded" || task.state === "failed")
    ? { ...task, figures: jsonValue<ResultFigures>(row, "result_figures") }
    : task;

const withDetail = (task: Task, row: Row): Task =>
  task.state === "failed" && typeof row.failure_detail === "string" ? { ...task, detail: row.failure_detail } : task;

function withCancelRequest(task: Task, row: Row): Task {
  if (row.cancel_wanted_at === undefined || row.cancel_wanted_at === null || !isCancelable(task)) return task;
  return {
    ...task,
    cancelRequest: { wantedAt: date(row, "cancel_wanted_at"), refusedAt: optional(row, "cancel_refused_at", date) },
  };
}

/** Written out for each state, without spreads: a read by id spends most of its time here and in the driver. */
function toTaskWithoutTrace(row: Row): Task {
  const id = branded<Task["id"]>(row, "id");
  const accountId = branded<Task["accountId"]>(row, "account_id");
  const slug = branded<Task["slug"]>(row, "slug");
  const request = toRequest(row);
  const apiKeyId = ifRead(row, "api_key_id", branded<NonNullable<Task["apiKeyId"]>>);
  const reservedAt = date(row, "reserved_at");
  const cost = amount(row, "credits");
  const state = oneOf(row, "state", TASK_STATES);
  switch (state) {
    case "queued": {
      const submissions = integer(row, "submissions");
      const reservation = { taskId: id, accountId, credits: cost, state: "held" } as const;
      const turn = integer(row, "turn");
      return { id, accountId, slug, request, apiKeyId, reservedAt, state, reservation, turn, submissions };
    }
    case "submitting": {
      const turn = optional(row, "turn", integer);
      const submissions = integer(row, "submissions");
      const place = ifRead(row, "place", text);
      const reservation = { taskId: id, accountId, credits: cost, state: "held" } as const;
      return { id, accountId, slug, request, apiKeyId, reservedAt, state, reservation, turn, submissions, place };
    }
    case "submitted": {
      const reservation = { taskId: id, accountId, credits: cost, state: "held" } as const;
      const submittedAt = date(row, "submitted_at");
      const upstreamTaskId = text(row, "upstream_task_id");
      const place = ifRead(row, "place", text);
      return {
        id,
        accountId,
        slug,
        request,
        apiKeyId,
        reservedAt,
        state,
        reservation,
        submittedAt,
        upstreamTaskId,
        place,
      };
    }
    case "generated": {
      const reservation = { taskId: id, accountId, credits: cost, state: "held" } as const;
      const submittedAt = date(row, "submitted_at");
      const upstreamTaskId = text(row, "upstream_task_id");
      const temporaryUrl = text(row, "temporary_url");
      const place = ifRead(row, "place", text);
      return {
        id,
        accountId,
        slug,
        request,
        apiKeyId,
        reservedAt,
        state,
        reservation,
        submittedAt,
        upstreamTaskId,
        place,
        temporaryUrl,
      };
    }
    case "succeeded": {
      const reservation = { taskId: id, accountId, credits: cost, state: "captured" } as const;
      const submittedAt = date(row, "submitted_at");
      const upstreamTaskId = text(row, "upstream_task_id");
      const succeededAt = date(row, "succeeded_at");
      const image = toImage(row);
      const nativeSize = toNativeSize(row);
      const sourceType = optional(row, "source_type", toSourceType);
      const place = ifRead(row, "place", text);
      return {
        id,
        accountId,
        slug,
        request,
        apiKeyId,
        reservedAt,
        state,
        reservation,
        submittedAt,
        upstreamTaskId,
        place,
        succeededAt,
        image,
        nativeSize,
        sourceType,
      };
    }
    case "failed": {
      const reservation = { taskId: id, accountId, credits: cost, state: "refunded" } as const;
      const failedAt = date(row, "failed_at");
      const reason = oneOf(row, "failure_reason", FAILURE_REASONS);
      const imageIndex = optional(row, "failure_image", integer);
      const imageProblem = optional(row, "failure_image_problem", text);
      const place = ifRead(row, "place", text);
      return {
        id,
        accountId,
        slug,
        request,
        apiKeyId,
        reservedAt,
        state,
        reservation,
        place,
        failedAt,
        reason,
        imageIndex,
        imageProblem,
      };
    }
  }
}

const RESOLUTION_NAMES = Object.keys(RESOLUTIONS) as Resolution[];

/** The request was parsed before it was stored. */
const toRequest = (row: Row): CreationRequest =>
  ({
    resolution: oneOf(row, "resolution", RESOLUTION_NAMES),
    prompt: optional(row, "prompt", text),
    imageUrls: texts(row, "image_urls"),
    visibility: oneOf(row, "visibility", VISIBILITIES),
    seed: optional(row, "seed", integer),
    metadata: pairs(row, "metadata", NO_METADATA),
    webhookUrl: ifRead(row, "webhook_url", text),
  }) as CreationRequest;

function toImage(row: Row): StoredImage {
  const temporaryUrl = text(row, "temporary_url");
  const imageName = branded<StoredImage["imageName"]>(row, "image_name");
  const status = oneOf(row, "storage_status", STORAGE_STATUSES);
  if (status === "uploading") {
    return { temporaryUrl, imageName, status, failedAttempts: integer(row, "failed_attempts") };
  }
  const image = { temporaryUrl, imageName, status };
  if (typeof row.next_image_name !== "string") return image;
  return { ...image, nextName: branded<StoredImage["imageName"]>(row, "next_image_name") };
}

const toSourceType = (row: Row, column: string) => oneOf(row, column, SOURCE_TYPES);

const toNativeSize = (row: Row): PixelSize => ({
  widthPixels: integer(row, "native_width"),
  heightPixels: integer(row, "native_height"),
});
