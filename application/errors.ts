/** It does not exist, or it belongs to another account: both give the same error. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

/** A refusal with `message` for people. */
export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** The idempotency key of a creation leads to a panorama that its owner has deleted. */
export const deletedReplay = (taskId: string): NotFound =>
  notFound(`This Idempotency-Key created the panorama ${taskId}, which was deleted. Use a new key for a new panorama.`);

/** The webhook's signature is missing or wrong, or its body cannot be read. */
export type UnverifiedWebhook = { readonly kind: "unverified_webhook"; readonly reason: string };

/** A refusal with `reason` for the log. */
export const unverifiedWebhook = (reason: string): UnverifiedWebhook => ({ kind: "unverified_webhook", reason });
