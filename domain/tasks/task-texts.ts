import type { CreationRequest } from "./creation-request.js";
import { NO_METADATA } from "./metadata.js";
import type { Task } from "./task.js";

/** Retention of the texts of a task without a picture, after it failed or was deleted. */
export const TEXTS_KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/** Removes prompt, image URLs and metadata of a task without a picture. */
export const withoutTexts = (task: Task): Task => {
  const request = { ...task.request, prompt: undefined, imageUrls: [], metadata: NO_METADATA };
  // A new request must have a prompt or images. Stores return the request of an erased task in this form.
  return { ...task, request: request as unknown as CreationRequest };
};
