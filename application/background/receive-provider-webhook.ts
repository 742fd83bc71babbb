import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound, type UnverifiedWebhook } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { IncomingWebhook, ProviderUnavailable } from "../ports/generation-provider.js";
import type { TaskWork } from "../ports/stores/tasks/task-work.js";

/** `wakePolls`: starts the poll work. */
export function providerWebhooks(
  ports: Pick<ApplicationPorts, "providerWebhooks" | "clock"> & {
    readonly tasks: TaskWork;
    readonly wakePolls: () => void;
  },
) {
  const { providerWebhooks, tasks, clock, wakePolls } = ports;
  return {
    /**
     * `POST /hooks/{provider}`: makes the poll of the webhook's task due now. A repeated or late webhook, and a webhook
     * for an unknown task, have no other effect.
     */
    async receiveProviderWebhook(
      provider: string,
      webhook: IncomingWebhook,
    ): Promise<Result<void, NotFound | UnverifiedWebhook | ProviderUnavailable>> {
      const taskId = await providerWebhooks?.get(provider)?.taskOf(webhook);
      if (taskId === undefined) return err(notFound(`No webhooks are accepted from ${provider}.`));
      if (taskId.isErr()) return err(taskId.error);
      await tasks.makeDueNow(taskId.value, clock.now());
      wakePolls();
      return ok(undefined);
    },
  };
}
