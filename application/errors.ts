/** The thing does not exist, or belongs to another account. The caller cannot distinguish the two. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** A webhook whose signature or content is not valid. */
export type UnverifiedWebhook = { readonly kind: "unverified_webhook"; readonly reason: string };

export const unverifiedWebhook = (reason: string): UnverifiedWebhook => ({ kind: "unverified_webhook", reason });
