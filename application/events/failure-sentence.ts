import { publicReason } from "../../domain/tasks/public-reason.js";
import type { FailedTask } from "../../domain/tasks/task.js";

type Failed = Pick<FailedTask, "reason" | "imageIndex" | "imageProblem" | "request">;

/**
 * The invalid parameter of the creation; `undefined` if unknown, or if it is one of several. Prompt and reference
 * images of a failed task are erased after a while.
 */
export function failedParam(task: Failed): string | undefined {
  const { prompt, imageUrls } = task.request;
  if (isAboutReference(task)) {
    const index = imageIndexOf(task);
    return index === undefined ? "image_urls" : `image_urls[${index}]`;
  }
  return task.reason === "content_refused" && prompt !== undefined && imageUrls.length === 0 ? "prompt" : undefined;
}

/** Why the task failed, and what to do next. Says nothing about its credits, and quotes no provider. */
export function failureSentence(task: Failed): string {
  const why = task.imageProblem === undefined ? "" : `: ${task.imageProblem}`;
  switch (publicReason(task)) {
    case "canceled":
      return "The panorama was canceled. To have it all the same, create it again.";
    case "queue_timeout":
      return "The panorama waited too long for its turn. Try again later.";
    case "reference_unreachable":
      return `The picture of ${referenceWords(task)} could not be read${why}. Upload it, or give another URL of it.`;
    case "reference_unusable":
      return `The image generator could not use ${referenceWords(task)}${why}. Try another JPEG, PNG or WebP.`;
    case "content_refused":
      return `The image generator does not make pictures of this. ${changeWhat(task)}`;
    case "provider_refused":
      return "The image generator did not accept the panorama. Try again later, or with other words.";
    case "provider_failed":
      return "The image generator failed to make the panorama. Try again; other words may help.";
    case "provider_unavailable":
      return "The image generator does not work at the moment. Try again later.";
    case "provider_timeout":
      return "The image generator did not finish in time. Try again later.";
    case "unusable_result":
      return "The image generator made no usable picture. Try again; other words may help.";
  }
}

/** `failureSentence` for a creation that is answered with an error. */
export function failedCreationSentence(task: Failed): string {
  return `${failureSentence(task)} No credits are charged for it.`;
}

/** `failureSentence`, and a sentence about the credits. */
export function failureMessage(task: Failed & Pick<FailedTask, "reservation">): string {
  return `${failureSentence(task)} The ${task.reservation.credits} reserved credits were refunded.`;
}

function isAboutReference({ reason }: Failed): boolean {
  return reason === "reference_unreachable" || reason === "reference_unusable";
}

/** With one reference image, its index is 0. */
function imageIndexOf({ imageIndex, request }: Failed): number | undefined {
  return imageIndex ?? (request.imageUrls.length === 1 ? 0 : undefined);
}

function referenceWords(task: Failed): string {
  const index = imageIndexOf(task);
  return index === undefined || task.request.imageUrls.length < 2
    ? "a reference image"
    : `reference image ${index + 1}`;
}

function changeWhat({ request: { prompt, imageUrls } }: Failed): string {
  if (imageUrls.length === 0) return "Change the prompt.";
  return prompt === undefined ? "Change the reference images." : "Change the prompt or the reference images.";
}
