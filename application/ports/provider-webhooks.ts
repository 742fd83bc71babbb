import type { Result } from "neverthrow";
import type { TaskId } from "../../domain/task-id.js";
import type { UnverifiedWebhook } from "../errors.js";
import type { ProviderUnavailable } from "./generation-provider.js";

/** As it came over HTTP; the body's very bytes, for they are what was signed. */
export type IncomingWebhook = {
  readonly body: Uint8Array;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
};

/** What one provider sends by itself when there is news of a generation. */
export interface ProviderWebhooks {
  /**
   * The task that a genuine notice is about. What the notice says of it is not asked: one may come twice, late or in
   * the wrong order, so it is only a reason to look. Unavailable: the provider's keys cannot be had now, so that it
   * cannot be told whether the notice is genuine.
   */
  taskOf(notice: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>>;
}
