import type { Result } from "neverthrow";
import type { TaskId } from "../../domain/ids.js";
import type { UnverifiedWebhook } from "../errors.js";
import type { ProviderUnavailable } from "./generation-provider.js";

/** A webhook as received over HTTP. `body` has the unmodified bytes, because the signature covers them. */
export type IncomingWebhook = {
  readonly body: Uint8Array;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
};

/** The webhooks of one provider, which it sends when the status of a generation changes. */
export interface ProviderWebhooks {
  /**
   * Verifies a webhook and returns the task that it is about. The reported status is ignored, because webhooks may
   * arrive twice, late or out of order: a webhook only triggers a poll.
   * Returns `provider_unavailable` if the webhook cannot be verified now because the provider's keys cannot be fetched.
   */
  taskOf(webhook: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>>;
}
