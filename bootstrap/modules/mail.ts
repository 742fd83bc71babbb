import { ContainerModule } from "inversify";
import { LogMail } from "../../adapters/mail/log-mail.js";
import { OutboxMail } from "../../adapters/mail/outbox-mail.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** E-mails. */
export const mail = new ContainerModule(({ bind }) => {
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
        outbox: stores.letterOutbox,
        sender: new SmtpSender({ ...mail, publicUrl, siteName: identity.name }),
      });
      outboxMail.start();
      return outboxMail;
    },
  ).onDeactivation((mail) => mail.close?.());
});
