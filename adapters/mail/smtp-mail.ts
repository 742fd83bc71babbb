import { setImmediate, setTimeout } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import nodemailer from "nodemailer";
import type { Clock } from "../../application/ports/clock.js";
import type { Letter, Mail } from "../../application/ports/mail.js";
import type { Reporter } from "../../application/ports/reporter.js";
import { Semaphore } from "../system/semaphore.js";
import { messageOf } from "./message-of.js";

export type SmtpSettings = {
  /** `smtp://` or `smtps://` with user, password, host and port. */
  readonly url: string;
  /** The sender, as `name <address>` or only the address. */
  readonly from: string;
  /** Origin of the links, without a trailing slash. */
  readonly publicUrl: string;
};

type Ports = { readonly clock: Clock; readonly reporter: Pick<Reporter, "report"> };

const CONNECTIONS_MAX = 2;
/** Letters that wait or are being sent. Further ones fail, so that a mail server that hangs costs no memory. */
const LETTERS_MAX = 500;
/** Waiting times after the first and the second failed attempt; the third failure is the last one. */
const RETRY_MILLISECONDS = [5_000, 60_000];
/** Of the connection and of each step of the protocol. */
const STEP_MILLISECONDS = 15_000;
/** Of all steps together: a server may send byte by byte, and each byte begins its step anew. */
const SENDING_MILLISECONDS = 60_000;
/** How long `close` waits for letters that are being sent. */
const CLOSE_MILLISECONDS = 5_000;

/** Sends letters through a mail server (SMTP), each on a connection of its own. */
export class SmtpMail implements Mail {
  private readonly transport: ReturnType<typeof transportTo>;
  private readonly settings: SmtpSettings;
  private readonly ports: Ports;
  private readonly connections = new Semaphore(CONNECTIONS_MAX);
  private readonly letters = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private readonly sendingMilliseconds: number;

  constructor(settings: SmtpSettings, ports: Ports, sendingMilliseconds = SENDING_MILLISECONDS) {
    this.transport = transportTo(settings.url);
    this.settings = settings;
    this.ports = ports;
    this.sendingMilliseconds = sendingMilliseconds;
  }

  post(letter: Letter): void {
    if (this.letters.size >= LETTERS_MAX) {
      this.fail(`${LETTERS_MAX} e-mails are waiting for the mail server`);
    } else {
      const delivered = this.deliver(letter).finally(() => this.letters.delete(delivered));
      this.letters.add(delivered);
    }
  }

  /** Starts no more attempts. Resolves when those in progress have ended, or after five seconds. */
  async close(): Promise<void> {
    this.closing.abort();
    const ended = new AbortController();
    await Promise.race([Promise.all(this.letters), this.ports.clock.sleep(CLOSE_MILLISECONDS, ended.signal)]);
    ended.abort();
  }

  private async deliver(letter: Letter): Promise<void> {
    await setImmediate(); // the request that posted the letter is answered first
    const { signal } = this.closing;
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.connections.run(async () => (signal.aborted ? STOPPED : this.send(letter)));
      if (failure === undefined) return;
      const pause = RETRY_MILLISECONDS[attempt];
      if (pause === undefined || failure.permanent) return this.fail(failure.detail);
      await this.ports.clock.sleep(pause, signal);
    }
  }

  private async send(letter: Letter): Promise<Failure | undefined> {
    const { from, publicUrl } = this.settings;
    try {
      // An object, because nodemailer reads text as a list of addresses.
      const to = { name: "", address: letter.to };
      const signal = AbortSignal.timeout(this.sendingMilliseconds);
      await this.transport.sendMail({ from, to, signal, ...messageOf(letter, publicUrl) });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  private fail(detail: string): void {
    this.ports.reporter.report({ kind: "mail_failed", detail });
  }
}

type Failure = { readonly permanent: boolean; readonly detail: string };

const STOPPED: Failure = { permanent: true, detail: "the service stops" };

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

/** SMTP: a reply of 500 or more is permanent. Errors without a reply are those of the connection. */
const failureOf = (error: unknown): Failure => {
  const permanent = error instanceof Error && "responseCode" in error && Number(error.responseCode) >= 500;
  return { permanent, detail: error instanceof Error ? error.message : String(error) };
};

/**
 * Connects to the mail server and logs in, and sends no letter. An error says whether the server refuses the login.
 * Takes at most four times as long as a step, also if the server sends byte by byte.
 */
export const checkMailServer = async (
  url: string,
  stepMilliseconds: number,
): Promise<Result<void, { readonly isLogin: boolean; readonly detail: string }>> => {
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
};

const tooLate = (): never => {
  throw new Error("it answers too slowly");
};
