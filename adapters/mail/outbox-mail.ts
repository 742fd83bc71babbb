import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { Letter, Mail } from "../../application/ports/mail.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { Secrets } from "../../application/ports/secrets.js";
import type { AccountStore } from "../../application/ports/stores/account-store.js";
import type { ClaimedLetter, LetterOutbox } from "../../application/ports/stores/letter-outbox.js";
import type { PasswordLinkStore } from "../../application/ports/stores/password-link-store.js";
import { letterRetryAt } from "../../domain/accounts/letter-retries.js";
import {
  INVITATION_SECONDS,
  openPasswordLink,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password-link.js";
import type { SmtpSender } from "./smtp-sender.js";

type Ports = {
  readonly outbox: LetterOutbox;
  readonly sender: Pick<SmtpSender, "send">;
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly ids: Pick<Ids, "unguessable" | "passwordLinkToken">;
  readonly secrets: Pick<Secrets, "sha256">;
  readonly clock: Clock;
  readonly reporter: Pick<Reporter, "report">;
};

/** Letters that are sent at the same time, each on a connection of its own. */
const CONNECTIONS_MAX = 2;
/** Pause between two looks for letters of other processes, and for those that are due again. */
const LOOK_MILLISECONDS = 5_000;
/** Longer than an attempt takes. If the process dies, another one sends the letter afterwards. */
const LEASE_MILLISECONDS = 90_000;
/** How long `close` waits for letters that are being sent. */
const CLOSE_MILLISECONDS = 5_000;

/**
 * Stores letters in the outbox that all instances share, and sends what is due there: each letter at least once, with
 * retries over a day, or it is given up, and reported with its account.
 */
export class OutboxMail implements Mail {
  private readonly ports: Ports;
  /** The links of letters that were posted here. Another attempt, or another instance, makes a new link. */
  private readonly tokens = new Map<string, PasswordLinkToken>();
  private readonly closing = new AbortController();
  private readonly posting = new Set<Promise<void>>();
  private woken = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(ports: Ports) {
    this.ports = ports;
  }

  /** Begins to send. */
  start(): void {
    this.running = Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => this.sendUntilClosed()));
  }

  post(letter: Letter): void {
    const posted = this.store(letter).finally(() => this.posting.delete(posted));
    this.posting.add(posted);
  }

  /** Starts no more attempts. Resolves when those in progress have ended, or after five seconds. */
  async close(): Promise<void> {
    this.closing.abort();
    this.wake();
    const ended = new AbortController();
    const late = this.ports.clock.sleep(CLOSE_MILLISECONDS, ended.signal);
    await Promise.race([Promise.all([this.running, ...this.posting]), late]);
    ended.abort();
  }

  private async store({ kind, to, token }: Letter): Promise<void> {
    await setImmediate(); // the request that posted the letter is answered first
    const { outbox, ids, clock } = this.ports;
    const id = ids.unguessable();
    this.tokens.set(id, token);
    try {
      await outbox.add({ id, kind, to }, clock.now());
      this.wake();
    } catch (error) {
      this.tokens.delete(id);
      const detail = error instanceof Error ? error.message : String(error);
      this.ports.reporter.report({ kind: "mail_failed", detail, letter: kind });
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

  /** Returns whether there was a letter. */
  private async sendNext(): Promise<boolean> {
    const { outbox, clock, sender } = this.ports;
    const now = clock.now();
    const [letter] = await outbox.claim(now, new Date(now.getTime() + LEASE_MILLISECONDS), 1);
    if (letter === undefined) return false;
    const failure = await sender.send({ ...letter, token: await this.tokenFor(letter, now) });
    if (failure === undefined) {
      await outbox.remove(letter);
      return true;
    }
    const retryAt = failure.permanent ? undefined : letterRetryAt(letter.attempt, clock.now());
    if (retryAt === undefined) await this.giveUp(letter, failure.detail);
    else await outbox.retry(letter, retryAt);
    return true;
  }

  private async tokenFor({ id, kind, to }: ClaimedLetter, now: Date): Promise<PasswordLinkToken> {
    const posted = this.tokens.get(id);
    this.tokens.delete(id);
    if (posted !== undefined) return posted;
    const { ids, secrets, links } = this.ports;
    const token = ids.passwordLinkToken();
    const seconds = kind === "invitation" ? INVITATION_SECONDS : PASSWORD_LINK_SECONDS;
    // Without a maximum: the number of letters is limited where they are posted.
    await links.insert(openPasswordLink(to, secrets.sha256(token), now, seconds), now, Number.MAX_SAFE_INTEGER);
    return token;
  }

  private async giveUp(letter: ClaimedLetter, detail: string): Promise<void> {
    const { accounts, outbox, reporter } = this.ports;
    const accountId = (await accounts.findByEmail(letter.to))?.account.id;
    await outbox.remove(letter);
    reporter.report({ kind: "mail_failed", detail, letter: letter.kind, accountId });
  }
}
