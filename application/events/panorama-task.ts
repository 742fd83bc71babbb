import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { isAiGenerated } from "../../domain/images/source-type.js";
import { isPermanent } from "../../domain/images/storage-status.js";
import { type AccountEvent, endedAtOf } from "../../domain/tasks/account-event.js";
import { publicImageName, publicReason } from "../../domain/tasks/public-reason.js";
import { AHEAD_MAX, NO_FORECAST, type TaskForecast } from "../../domain/tasks/queue.js";
import { type FailedTask, type SucceededTask, statusOf, type Task } from "../../domain/tasks/task.js";
import type { ViewerUrl } from "../application-settings.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import { failedParam, failureMessage } from "./failure-sentence.js";
import type { PublicTask } from "./public-task.js";

/** Makes the URLs of images and viewers. Without `viewerUrl`, tasks have no `viewer_url`. */
export type TaskUrls = {
  readonly storage: Pick<ObjectStorage, "urlOf">;
  readonly viewerUrl: ViewerUrl | undefined;
};

/**
 * The task as JSON for REST and webhooks (specification, Panorama task). JSON omits members that are `undefined`, so it
 * is one object: copying a part of it into another takes as long as the rest. `forecast`: of a task in processing.
 */
export function panoramaTask(
  task: Task,
  urls: TaskUrls,
  { ahead, estimatedSeconds }: TaskForecast = NO_FORECAST,
): PublicTask {
  const { resolution, visibility, prompt, imageUrls, seed, metadata } = task.request;
  return {
    id: task.id,
    status: statusOf(task),
    credits_charged: task.reservation.credits,
    created_at: task.reservedAt.toISOString(),
    resolution,
    visibility,
    prompt,
    image_urls: imageUrls as string[], // never changed
    seed,
    metadata,
    hidden_reason: task.hiddenReason,
    queue_position: ahead === undefined ? undefined : Math.min(ahead, AHEAD_MAX),
    estimated_seconds: estimatedSeconds,
    finished_at: task.state === "succeeded" || task.state === "failed" ? endedAtOf(task).toISOString() : undefined,
    output: task.state === "succeeded" ? output(task, urls) : undefined,
    error: task.state === "failed" ? failure(task) : undefined,
  };
}

function failure(task: FailedTask) {
  return {
    code: "generation_failed" as const,
    message: failureMessage(task),
    reason: publicReason(task),
    param: failedParam(task),
  };
}

function output(task: SucceededTask, { storage, viewerUrl }: TaskUrls) {
  const { slug, image, request, nativeSize, sourceType } = task;
  const name = publicImageName(task);
  return {
    image_url: isPermanent(image) ? storage.urlOf(name) : image.temporaryUrl,
    slug,
    viewer_url: viewerUrl?.(slug, request.visibility),
    storage_status: image.status,
    ai_generated: isAiGenerated(sourceType),
    native_width: nativeSize.widthPixels,
    native_height: nativeSize.heightPixels,
    thumbnail_url: image.status === "saved" ? storage.urlOf(thumbnailNameOf(name)) : undefined,
  };
}

/**
 * Serializes the body of an event for webhooks (`verifyWebhook` of the client reads it) and streams. `task`: of an
 * event about a task. Built when it is sent, so that stored events need no URLs of this installation and do not repeat
 * every prompt.
 */
export function eventBody(event: AccountEvent, task: Task | undefined, urls: TaskUrls): string {
  const { type, at } = event;
  const timestamp = at.toISOString();
  if (type === "credits.low") {
    return JSON.stringify({ type, timestamp, data: { remaining_credits: event.remainingCredits } });
  }
  if (task === undefined) throw new Error(`the task of event ${event.number} of account ${event.accountId} is missing`);
  return JSON.stringify({ type, timestamp, data: panoramaTask(task, urls) });
}
