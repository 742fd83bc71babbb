import type { Config } from "../config.js";
import { broken, type Finding, fine, notChecked } from "./finding.js";

/** For the connection, and for each step of the protocol. */
const STEP_MILLISECONDS = 4_000;

/** Logs in to the mail server. No e-mail is sent. */
export const checkMail = async ({ mail }: Pick<Config, "mail">): Promise<readonly Finding[]> => {
  const name = "mail";
  if (mail === undefined) {
    return [notChecked(name, "SMTP_URL is not set, so the links for passwords go to the log.")];
  }
  const { checkMailServer } = await import("../../adapters/mail/smtp-sender.js");
  const { host, username } = new URL(mail.url);
  const checked = await checkMailServer(mail.url, STEP_MILLISECONDS);
  if (checked.isOk())
    return [fine(name, `The mail server ${host} accepts ${username === "" ? "connections" : "the login"}.`)];
  const { isLogin, detail } = checked.error;
  const reason = detail.replace(/\s+/g, " ").replace(/\.$/, "");
  return [
    isLogin
      ? broken(
          name,
          "configuration",
          `The mail server ${host} refuses the login: ${reason}. Correct user and password in SMTP_URL.`,
        )
      : broken(
          name,
          "unreachable",
          `The mail server ${host} cannot be used: ${reason}. Check host, port and encryption in SMTP_URL.`,
        ),
  ];
};
