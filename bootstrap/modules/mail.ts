import { ContainerModule } from "inversify";
import { LogMail } from "../../adapters/mail/log-mail.js";
import { sendPasswordLink } from "../../application/accounts/send-password-link.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** E-mails, and the use case that sends them. */
export const mail = new ContainerModule(({ bind }) => {
  const { config, accounts, links, rateLimits, clock, ids, secrets, mail, logger, reporter } = tokens;

  provide(
    bind,
    tokens.mail,
    { config, logger, clock, reporter },
    async ({ config: { mail, publicUrl }, logger, ...ports }) => {
      if (mail === undefined) return new LogMail(logger, publicUrl);
      const { SmtpMail } = await import("../../adapters/mail/smtp-mail.js");
      return new SmtpMail({ ...mail, publicUrl }, ports);
    },
    (made) => made.close?.(),
  );
  provide(bind, tokens.sendPasswordLink, { accounts, links, rateLimits, clock, ids, secrets, mail }, sendPasswordLink);
});
