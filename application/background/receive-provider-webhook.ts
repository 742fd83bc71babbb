import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound, type UnverifiedWebhook } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { ProviderUnavailable } from "../ports/generation-provider.js";
import type { IncomingWebhook, ProviderWebhooks } from "../ports/provider-webhooks.js";
import type { TaskStore } from "../ports/task-store.js";

type Ports = {
  /** By the provider's name. */
  readonly notices: ReadonlyMap<string, ProviderWebhooks>;
  readonly tasks: Pick<TaskStore, "makeDueNow">;
  readonly clock: Pick<Clock, "now">;
  /** Told that a look is due now. */
  readonly pollDue: () => void;
};

export type ReceiveProviderWebhook = ReturnType<typeof receiveProviderWebhook>;

/**
 * A notice of a provider: its task is looked at now instead of later. A notice that comes again, or too late, or is
 * about a task that nobody knows, changes nothing else.
 */
export const receiveProviderWebhook =
  ({ notices, tasks, clock, pollDue }: Ports) =>
  async (
    provider: string,
    notice: IncomingWebhook,
  ): Promise<Result<void, NotFound | UnverifiedWebhook | ProviderUnavailable>> => {
    const taken = await notices.get(provider)?.taskOf(notice);
    if (taken === undefined) return err(notFound(`No notices are taken from ${provider}.`));
    if (taken.isErr()) return err(taken.error);
    await tasks.makeDueNow(taken.value, clock.now());
    pollDue();
    return ok(undefined);
  };
