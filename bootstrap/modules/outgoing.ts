import { ContainerModule } from "inversify";
import { LogMail } from "../../adapters/mail/log-mail.js";
import { OutboxMail } from "../../adapters/mail/outbox-mail.js";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { HttpWebhookSender } from "../../adapters/webhooks/http-webhook-sender.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";
import { installationUserAgent } from "../user-agent.js";

/** Ports to other services: e-mails, the payment service, and webhooks to customers. */
export const outgoing = new ContainerModule(({ bind }) => {
  const { config, clock, logger, reporter, stores, ids, secrets } = tokens;

  provide(
    bind,
    tokens.mail,
    { config, logger, clock, reporter, stores, ids, secrets },
    async ({ config: { mail, publicUrl, identity }, logger, stores, ...ports }) => {
      if (mail === undefined) return new LogMail(logger, publicUrl);
      const { SmtpSender } = await import("../../adapters/mail/smtp-sender.js");
      const outboxMail = new OutboxMail({
        ...ports,
        ...stores,
        outbox: stores.emailOutbox,
        sender: new SmtpSender({ ...mail, publicUrl, siteName: identity.name }),
      });
      outboxMail.start();
      return outboxMail;
    },
  ).onDeactivation((mail) => mail.close?.());

  provide(bind, tokens.payments, { config, clock, stores }, async ({ config, clock, stores }) => {
    const { stripe, publicUrl, mail, operatorEmail } = config;
    const to = mail && operatorEmail;
    if (stripe === undefined) {
      // Its row is written after the order's: the metric of pending orders is for what a crash loses between them.
      return new ManualPayments(async ({ id }) => {
        if (to !== undefined) await stores.emailOutbox.add({ id, kind: "pending_order", to }, clock.now());
      });
    }
    const { StripePayments } = await import("../../adapters/payments/stripe-payments.js");
    return new StripePayments(stripe, publicUrl, clock);
  });

  provide(
    bind,
    tokens.webhookSender,
    { config },
    ({ config }) => new HttpWebhookSender(config.webhookPrivateOrigins, installationUserAgent(config)),
  ).onDeactivation((sender) => sender.close());
});
