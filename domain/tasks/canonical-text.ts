import type { CreationRequest } from "./creation-request.js";
import { sortedMetadata } from "./metadata.js";

/**
 * Requests with the same meaning have the same text: the order of keys and explicit defaults make no difference.
 *
 * It names the request of an idempotency key, so the text of a request without the later fields must never change.
 */
export const canonicalText = (request: CreationRequest, maxCredits?: number): string => {
  const { resolution, prompt, imageUrls, visibility, seed, metadata, webhookUrl } = request;
  const hasMetadata = Object.keys(metadata).length > 0;
  const later = {
    seed,
    metadata: hasMetadata ? sortedMetadata(metadata) : undefined,
    max_credits: maxCredits,
    webhook_url: webhookUrl,
  };
  const isUsed = Object.values(later).some((value) => value !== undefined);
  return JSON.stringify([resolution, prompt ?? null, imageUrls, visibility, ...(isUsed ? [later] : [])]);
};
