import { setTimeout } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import nodemailer from "nodemailer";
import { messageOf, type SentMessage } from "./message-of.js";

export type SmtpSettings = {
  /** `smtp://` or `smtps://` with user, password, host and port. */
  readonly url: string;
  /** The sender, as `name <address>` or only the address. */
  readonly from: string;
  /** Origin of the links, without a trailing slash. */
  readonly publicUrl: string;
  /** Name of the service in e-mails, besides its address. */
  readonly siteName?: string | undefined;
};

/** Timeout of the connection and of each step of the protocol. */
const STEP_MILLISECONDS = 15_000;
/** Timeout of all steps together: each byte of a slow server begins a step's timeout anew. */
const SENDING_MILLISECONDS = 60_000;

/** `permanent`: another attempt fails, too. */
export type SendingFailure = { readonly permanent: boolean; readonly detail: string };

/** Sends e-mails through a mail server (SMTP), each on a connection of its own. */
export class SmtpSender {
  private readonly transport: ReturnType<typeof transportTo>;
  private readonly settings: SmtpSettings;
  private readonly sendingMilliseconds: number;

  constructor(settings: SmtpSettings, sendingMilliseconds = SENDING_MILLISECONDS) {
    this.transport = transportTo(settings.url);
    this.settings = settings;
    this.sendingMilliseconds = sendingMilliseconds;
  }

  /** Makes one attempt, which takes at most a minute. Never rejects. */
  async send(message: SentMessage): Promise<SendingFailure | undefined> {
    const { from, publicUrl, siteName } = this.settings;
    try {
      // An object, because nodemailer reads text as a list of addresses.
      const to = { name: "", address: message.to };
      const signal = AbortSignal.timeout(this.sendingMilliseconds);
      const messageId = `<${message.id}@${new URL(publicUrl).hostname}>`;
      await this.transport.sendMail({ from, to, signal, messageId, ...messageOf(message, publicUrl, siteName) });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }
}

const transportTo = (url: string, stepMilliseconds = STEP_MILLISECONDS) =>
  nodemailer.createTransport({
    url,
    connectionTimeout: stepMilliseconds,
    greetingTimeout: stepMilliseconds,
    socketTimeout: stepMilliseconds,
    dnsTimeout: stepMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

/**
 * SMTP: a reply of 500 or more is permanent, but not to our login, which the operator can mend. Errors without a reply
 * are limits of the connection.
 */
function failureOf(error: unknown): SendingFailure {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const permanent = Number(responseCode ?? 0) >= 500 && code !== "EAUTH";
  return { permanent, detail: error instanceof Error ? error.message : String(error) };
}

/**
 * Connects to the mail server and logs in, and sends no e-mail. An error says whether the server refuses the login.
 * Takes at most four times as long as a step, also if the server sends byte by byte.
 */
export async function checkMailServer(
  url: string,
  stepMilliseconds: number,
): Promise<Result<void, { readonly isLogin: boolean; readonly detail: string }>> {
  const transport = transportTo(url, stepMilliseconds);
  const ended = new AbortController();
  const late = setTimeout(stepMilliseconds * 4, undefined, { signal: ended.signal, ref: false });
  try {
    await Promise.race([transport.verify(), late.then(tooLate)]);
    return ok(undefined);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    return err({ isLogin: code === "EAUTH", detail: String(message || code) });
  } finally {
    ended.abort();
    transport.close();
  }
}

function tooLate(): never {
  throw new Error("it answers too slowly");
}
