import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { CreationInput } from "./resources.js";

/** Converts a parsed creation back to the input of `create`. Omitted members are `undefined`. */
export const creationInput = (request: CreationRequest, maxCredits?: number): CreationInput => {
  const { resolution, prompt, imageUrls, visibility, seed, metadata, webhookUrl } = request;
  const input = {
    resolution,
    visibility,
    prompt,
    image_urls: imageUrls.length === 0 ? undefined : imageUrls,
    max_credits: maxCredits,
    seed,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    webhook_url: webhookUrl,
  };
  return input as CreationInput; // the parser requires a prompt or an image
};
