/** There is no such thing, or it is not the asker's: the two are not told apart. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** A notice that is not from whom it says it is, or not in one piece. */
export type UnverifiedWebhook = { readonly kind: "unverified_webhook"; readonly reason: string };

export const unverifiedWebhook = (reason: string): UnverifiedWebhook => ({ kind: "unverified_webhook", reason });
