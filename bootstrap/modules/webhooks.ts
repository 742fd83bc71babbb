import { ContainerModule } from "inversify";
import { HttpWebhookSender } from "../../adapters/webhooks/http-webhook-sender.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";
import { installationUserAgent } from "../user-agent.js";

/** What sends webhooks to customers. */
export const webhooks = new ContainerModule(({ bind }) => {
  provide(
    bind,
    tokens.webhookSender,
    { config: tokens.config },
    ({ config }) => new HttpWebhookSender(config.webhookPrivateOrigins, installationUserAgent(config)),
  ).onDeactivation((sender) => sender.close());
});
