import { failureSentence } from "../../../application/events/failure-sentence.js";
import type { CreatePanoramaError } from "../../../application/panoramas/creations.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import type { InvalidMessage } from "../../wording/rule-predicate.js";
import { budgetSentence, returnedPaymentSentence, suspendedSentence } from "../../wording/sentences.js";
import { fieldMessage } from "../field-message.js";
import { count, creditsCount } from "../texts.js";

/** More than `max` reference images. Checked before the upload. */
export type TooManyImages = { readonly kind: "too_many_images"; readonly max: number };

export type CreationRefusal = CreatePanoramaError | InvalidMessage | StorageUnavailable | TooManyImages;

/** HTTP status of every refusal. The type requires all kinds. */
export const REFUSAL_STATUS: Readonly<Record<CreationRefusal["kind"], number>> = {
  access_ended: 401,
  account_suspended: 403,
  invalid_request: 400,
  too_many_images: 400,
  insufficient_credits: 402,
  budget_spent: 402,
  too_many_failures: 429,
  too_many_active_tasks: 429,
  upstream_error: 502,
  storage_unavailable: 503,
};

export function refusalSentence(refusal: CreationRefusal): string {
  switch (refusal.kind) {
    case "invalid_request":
      return fieldMessage(refusal);
    case "too_many_images":
      return tooManySentence(refusal.max);
    case "access_ended":
      return "You are logged out.";
    case "account_suspended":
      return suspendedSentence(refusal);
    case "insufficient_credits": {
      const returned = returnedPaymentSentence(refusal);
      if (returned !== undefined) return returned;
      return `This costs ${creditsCount(refusal.cost)}, but you have ${count(refusal.balance)}. Buy more on your account page.`;
    }
    case "budget_spent":
      return budgetSentence(refusal);
    case "too_many_failures":
      return "Too many of your panoramas could not be made today. You can create the next one after 00:00 UTC.";
    case "too_many_active_tasks":
      return `You already have ${refusal.limit} panoramas in progress, the maximum. Try again when one is finished.`;
    case "upstream_error":
      return refusal.failed === undefined
        ? "This couldn’t be started. You weren’t charged. Please try again."
        : `${failureSentence(refusal.failed)} You weren’t charged.`;
    case "storage_unavailable":
      return "The pictures couldn’t be stored. Please try again.";
  }
}

function tooManySentence(max: number): string {
  if (max === 0) return fieldMessage(invalidRequest("image_urls", { name: "text_only" }));
  return max === 1
    ? "Add at most 1 picture, a file or a URL."
    : `Add at most ${max} pictures, files and URLs together.`;
}
