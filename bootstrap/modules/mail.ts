import { ContainerModule } from "inversify";
import { LogMail } from "../../adapters/mail/log-mail.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** E-mails. */
export const mail = new ContainerModule(({ bind }) => {
  const { config, clock, logger, reporter } = tokens;

  provide(
    bind,
    tokens.mail,
    { config, logger, clock, reporter },
    async ({ config: { mail, publicUrl }, logger, ...ports }) => {
      if (mail === undefined) return new LogMail(logger, publicUrl);
      const { SmtpMail } = await import("../../adapters/mail/smtp-mail.js");
      return new SmtpMail({ ...mail, publicUrl }, ports);
    },
  ).onDeactivation((mail) => mail.close?.());
});
