import type { CreationRequest } from "./creation-request.js";
import { sortedMetadata } from "./metadata.js";

/**
 * The canonical text of a request: the order of keys and explicit defaults make no difference.
 *
 * It identifies the request of an idempotency key, so it must not change from one version to the next.
 */
export const canonicalText = (request: CreationRequest, maxCredits?: number): string => {
  const { resolution, prompt, imageUrls, visibility, seed, metadata, webhookUrl } = request;
  return JSON.stringify({
    resolution,
    prompt,
    image_urls: imageUrls,
    visibility,
    seed,
    metadata: sortedMetadata(metadata),
    max_credits: maxCredits,
    webhook_url: webhookUrl,
  });
};
