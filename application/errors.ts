/** The thing does not exist or belongs to another account; the caller cannot tell which. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** The webhook's signature is missing or wrong, or its body cannot be read. */
export type UnverifiedWebhook = { readonly kind: "unverified_webhook"; readonly reason: string };

export const unverifiedWebhook = (reason: string): UnverifiedWebhook => ({ kind: "unverified_webhook", reason });
