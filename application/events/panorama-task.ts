import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { isPermanent } from "../../domain/images/storage-status.js";
import type { AccountEvent } from "../../domain/tasks/account-event.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { ToldTask } from "../../domain/tasks/panorama-task.js";
import { type SucceededTask, statusOf, type Task } from "../../domain/tasks/task.js";
import { toldImageName, toldReason } from "../../domain/tasks/told-task.js";
import type { ViewerUrl } from "../application-settings.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import { failedParam, failureMessage } from "./failure-sentence.js";

/** Makes the URLs of images and viewers. Without `viewerUrl`, tasks have no `viewer_url`. */
export type TaskUrls = {
  readonly storage: Pick<ObjectStorage, "urlOf">;
  readonly viewerUrl: ViewerUrl | undefined;
};

/** The task as JSON for REST and webhooks (specification, Panorama task). */
export const panoramaTask = (task: Task, urls: TaskUrls): ToldTask => ({
  id: task.id,
  status: statusOf(task),
  credits_charged: task.reservation.credits,
  ...shownCreation(task.request, task.reservedAt),
  hidden_reason: task.hiddenReason,
  ...shownEnd(task, urls),
});

/** The creation parameters of a task. JSON omits members that are `undefined`. */
export const shownCreation = (request: CreationRequest, createdAt: Date) => {
  const { resolution, visibility, prompt, imageUrls, seed, metadata } = request;
  return {
    created_at: createdAt.toISOString(),
    resolution,
    visibility,
    prompt,
    image_urls: [...imageUrls],
    seed,
    metadata,
  };
};

const shownEnd = (task: Task, urls: TaskUrls) => {
  switch (task.state) {
    case "queued":
    case "submitting":
    case "submitted":
    case "generated":
      return {};
    case "succeeded":
      return { finished_at: task.succeededAt.toISOString(), output: output(task, urls) };
    case "failed":
      return {
        finished_at: task.failedAt.toISOString(),
        error: {
          code: "generation_failed" as const,
          message: failureMessage(task),
          reason: toldReason(task),
          param: failedParam(task),
        },
      };
  }
};

const output = (task: SucceededTask, { storage, viewerUrl }: TaskUrls) => {
  const { slug, image, request, nativeSize } = task;
  return {
    image_url: isPermanent(image) ? storage.urlOf(toldImageName(task)) : image.temporaryUrl,
    slug,
    viewer_url: viewerUrl?.(slug, request.visibility),
    storage_status: image.status,
    ai_generated: true as const,
    native_width: nativeSize.widthPixels,
    native_height: nativeSize.heightPixels,
    ...(image.status === "saved" && { thumbnail_url: storage.urlOf(thumbnailNameOf(toldImageName(task))) }),
  };
};

/**
 * Serializes the body of an event for webhooks (`verifyWebhook` of the client reads it) and streams. `task`: of an
 * event about a task. Built when it is sent, so that stored events need no URLs of this installation and do not repeat
 * every prompt.
 */
export const eventBody = (event: AccountEvent, task: Task | undefined, urls: TaskUrls): string => {
  const { type, at } = event;
  const timestamp = at.toISOString();
  if (type === "credits.low") {
    return JSON.stringify({ type, timestamp, data: { remaining_credits: event.remainingCredits } });
  }
  if (task === undefined) throw new Error(`the task of event ${event.number} of account ${event.accountId} is missing`);
  return JSON.stringify({ type, timestamp, data: panoramaTask(task, urls) });
};
