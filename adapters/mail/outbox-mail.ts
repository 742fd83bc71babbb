import { emailLinkDigest } from "../../application/accounts/links.js";
import { CLOCK_TOLERANCE_MILLISECONDS, type Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { EmailMessage, Mail } from "../../application/ports/mail.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { Secrets } from "../../application/ports/secrets.js";
import type { AccountStore, PasswordLinkStore } from "../../application/ports/stores/account-stores.js";
import type { ClaimedMessage, EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import type { Email } from "../../domain/accounts/account.js";
import { EMAIL_PAUSE_MILLISECONDS_MAX, emailRetryAt } from "../../domain/accounts/email-retries.js";
import {
  INVITATION_SECONDS,
  openPasswordLink,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password.js";
import { isUnlinked, type LinkedKind, type UnlinkedKind } from "./message-of.js";
import type { SmtpSender } from "./smtp-sender.js";

type Ports = {
  readonly outbox: EmailOutbox;
  readonly sender: Pick<SmtpSender, "send">;
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly ids: Pick<Ids, "unguessable" | "passwordLinkToken">;
  readonly secrets: Pick<Secrets, "sha256">;
  readonly clock: Clock;
  readonly reporter: Pick<Reporter, "report">;
};

/** E-mails that are sent at the same time, each on a connection of its own. */
const CONNECTIONS_MAX = 2;
/** Pause between two reads of the outbox: for e-mails of other processes, and for retries that are due. */
const LOOK_MILLISECONDS = 5_000;
/** Longer than an attempt takes. If the process dies, another one sends the e-mail afterwards. */
const LEASE_MILLISECONDS = 90_000;
/** A first attempt that begins later makes a new link, because the time of the posted one has begun. */
const PROMPT_MILLISECONDS = 60_000;
/** Maximum time that `close` waits for e-mails that are being sent. */
const CLOSE_MILLISECONDS = 5_000;

/**
 * Stores e-mails in the outbox that all instances share, and sends what is due there: each e-mail at least once, with
 * retries over a day, or it is given up, and reported with its account.
 */
export class OutboxMail implements Mail {
  private readonly ports: Ports;
  /** The links of e-mails that were posted here. Another attempt, or another instance, makes a new link. */
  private readonly posted = new Map<string, { readonly token: PasswordLinkToken; readonly at: Date }>();
  private readonly closing = new AbortController();
  private woken = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(ports: Ports) {
    this.ports = ports;
  }

  /** Begins to send. */
  start(): void {
    this.running = Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => this.sendUntilClosed()));
  }

  /** Resolves when the e-mail is stored. */
  async post(message: EmailMessage): Promise<void> {
    const { outbox, ids, clock } = this.ports;
    const [id, at] = [ids.unguessable(), clock.now()];
    const { kind, to } = message;
    this.forgetLate(at);
    if (message.token !== undefined) this.posted.set(id, { token: message.token, at });
    try {
      await outbox.add({ id, kind, to, ...(message.kind === "confirm_email" && { accountId: message.accountId }) }, at);
    } catch (error) {
      this.posted.delete(id);
      throw error;
    }
    this.wake();
  }

  async pretend(to: Email): Promise<void> {
    const { outbox, ids, clock } = this.ports;
    await outbox.add({ id: ids.unguessable(), kind: "none", to }, clock.now());
    this.wake();
  }

  /** Starts no more attempts. Resolves when those in progress have ended, or after five seconds. */
  async close(): Promise<void> {
    this.closing.abort();
    this.wake();
    const ended = new AbortController();
    const late = this.ports.clock.sleep(CLOSE_MILLISECONDS, ended.signal);
    await Promise.race([this.running, late]);
    ended.abort();
  }

  /** Other instances may have sent them. The oldest are first. */
  private forgetLate(now: Date): void {
    for (const [id, { at }] of this.posted) {
      if (isPrompt(at, now)) return;
      this.posted.delete(id);
    }
  }

  private wake(): void {
    this.woken.abort();
    this.woken = new AbortController();
  }

  private async sendUntilClosed(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const woken = this.woken.signal;
      const hasSent = await this.sendNext().catch((error: unknown) => {
        this.ports.reporter.report({ kind: "work_failed", work: "mail", error });
        return false;
      });
      if (!hasSent && !this.closing.signal.aborted) await this.ports.clock.sleep(LOOK_MILLISECONDS, woken);
    }
  }

  /** Returns whether there was an e-mail. */
  private async sendNext(): Promise<boolean> {
    const { outbox, clock } = this.ports;
    const now = clock.now();
    const [message] = await outbox.claim(now, new Date(now.getTime() + LEASE_MILLISECONDS), 1);
    if (message === undefined) {
      const latest = now.getTime() + EMAIL_PAUSE_MILLISECONDS_MAX + CLOCK_TOLERANCE_MILLISECONDS;
      await outbox.bringForward(new Date(latest), now);
      return false;
    }
    if (message.kind === "none") await outbox.remove(message);
    else await this.attempt({ ...message, kind: message.kind }, now);
    return true;
  }

  private async attempt(message: ClaimedMessage & { kind: LinkedKind | UnlinkedKind }, now: Date): Promise<void> {
    const { outbox, clock, sender } = this.ports;
    const { kind } = message;
    const failure = await sender.send(
      isUnlinked(kind) ? { ...message, kind } : { ...message, kind, token: await this.takeOrMakeToken(message, now) },
    );
    if (failure === undefined) return outbox.remove(message);
    const retryAt = failure.permanent ? undefined : emailRetryAt(message.attempt, clock.now());
    if (retryAt === undefined) await this.giveUp(message, failure.detail);
    else await outbox.retry(message, retryAt);
  }

  private async takeOrMakeToken({ id, kind, to, accountId }: ClaimedMessage, now: Date): Promise<PasswordLinkToken> {
    const posted = this.posted.get(id);
    this.posted.delete(id);
    if (posted !== undefined && isPrompt(posted.at, now)) return posted.token;
    const { ids, secrets, links } = this.ports;
    const token = ids.passwordLinkToken();
    const seconds = kind === "invitation" ? INVITATION_SECONDS : PASSWORD_LINK_SECONDS;
    const digest = accountId === undefined ? secrets.sha256(token) : emailLinkDigest(secrets, accountId, token);
    // Without a maximum: the number of e-mails is limited where they are posted.
    await links.insert(openPasswordLink(to, digest, now, seconds), now, Number.MAX_SAFE_INTEGER);
    return token;
  }

  private async giveUp(message: ClaimedMessage, detail: string): Promise<void> {
    const { accounts, outbox, reporter } = this.ports;
    const accountId = (await accounts.findByEmail(message.to))?.account.id;
    await outbox.remove(message);
    reporter.report({ kind: "mail_failed", detail, email: message.kind, accountId });
  }
}

const isPrompt = (postedAt: Date, now: Date): boolean => now.getTime() - postedAt.getTime() < PROMPT_MILLISECONDS;
