import type { EmailMessage, Mail } from "../../application/ports/mail.js";
import { emailLinkUrl, passwordLinkUrl } from "./message-of.js";

type Logger = { warn(line: object, message: string): void };

/** For a service without a mail server: writes links to the operator's log. Sends no notices. */
export class LogMail implements Mail {
  private readonly logger: Logger;
  private readonly publicUrl: string;

  constructor(logger: Logger, publicUrl: string) {
    this.logger = logger;
    this.publicUrl = publicUrl;
  }

  post(message: EmailMessage): void {
    if (message.token === undefined) return;
    const line =
      message.kind === "confirm_email"
        ? { event: "email_link", to: message.to, link: emailLinkUrl(this.publicUrl, message.token) }
        : { event: "password_link", to: message.to, link: passwordLinkUrl(this.publicUrl, message.token) };
    this.logger.warn(line, "SMTP_URL is not set: give this link to the owner of the e-mail address");
  }
}
