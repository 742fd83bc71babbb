/** The thing does not exist, or it belongs to another account: both give the same error. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

/** A refusal with `message` for people. */
export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** The webhook's signature is missing or wrong, or its body cannot be read. */
export type UnverifiedWebhook = { readonly kind: "unverified_webhook"; readonly reason: string };

/** A refusal with `reason` for the log. */
export const unverifiedWebhook = (reason: string): UnverifiedWebhook => ({ kind: "unverified_webhook", reason });

/** The account has tasks in processing. Cancel them, or wait until they have ended. */
export type TasksActive = { readonly kind: "tasks_active"; readonly activeTasks: number };
