import { describe, expect, it, onTestFinished, vi } from "vitest";
import { accountId, anAccount } from "../../../adapters/contracts/support/builders.js";
import { messageOf, type SentMessage } from "../../../adapters/mail/message-of.js";
import { OutboxMail } from "../../../adapters/mail/outbox-mail.js";
import type { SendingFailure } from "../../../adapters/mail/smtp-sender.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryIds } from "../../../adapters/memory/memory-ids.js";
import { MemorySecrets } from "../../../adapters/memory/memory-secrets.js";
import { RecordingReporter } from "../../../adapters/memory/recording-ports.js";
import { SqlEmailOutbox } from "../../../adapters/persistence/accounts/sql-email-outbox.js";
import { memoryDatabase } from "../../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { emailLinkDigest } from "../../../application/accounts/links.js";
import type { EmailMessage } from "../../../application/ports/mail.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PasswordLinkToken } from "../../../domain/accounts/password.js";

const TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE" as PasswordLinkToken;
const HOUR_MILLISECONDS = 60 * 60 * 1000;
/** The pause between two reads of the outbox. */
const PAUSE_MILLISECONDS = 5_000;
const away: SendingFailure = { permanent: false, detail: "connect ECONNREFUSED" };

/** Instances that share an outbox. `fails`: what each attempt ends with. */
const world = async (instances = 1) => {
  const clock = new HandClock();
  const reporter = new RecordingReporter();
  const database = memoryDatabase();
  let looks = 0;
  clock.waitFor(() => {
    // Each instance has two loops that sleep when they have nothing to do. A read of an entity takes a turn of the
    // event loop or more; what waits for a sender that does not answer takes many.
    const isAtRest = clock.sleeping >= 2 * instances && database.load.idleConnections === database.load.connections;
    looks = isAtRest ? 0 : (looks + 1) % 100;
    return looks === 0;
  });
  const stores = sqlStores(database);
  const [outbox, ids, secrets] = [new SqlEmailOutbox(database), new MemoryIds(), new MemorySecrets()];
  const sent: SentMessage[] = [];
  const state: { failure: SendingFailure | undefined } = { failure: undefined };
  const sender = {
    send: async (message: SentMessage) => {
      sent.push(message);
      return state.failure;
    },
  };
  const account = anAccount();
  await stores.accounts.open(account);
  const mails = Array.from({ length: instances }, () => {
    const mail = new OutboxMail({ ...stores, outbox, sender, ids, secrets, clock, reporter });
    mail.start();
    onTestFinished(() => mail.close());
    return mail;
  });
  await clock.settled(); // all sleep, so that the instance that posts an e-mail sends it
  const message: EmailMessage = { kind: "new_password", to: account.email, token: TOKEN };
  /** Advances the clock in steps. A step longer than a pause begins with a jump, so the outbox is read once in it. */
  const pass = async (milliseconds: number, step = PAUSE_MILLISECONDS) => {
    for (let passed = 0; passed < milliseconds; passed += step) {
      clock.setBack(PAUSE_MILLISECONDS - step);
      await clock.advance(PAUSE_MILLISECONDS);
    }
  };
  return { clock, database, reporter, stores, outbox, secrets, sent, state, mails, message, account, pass };
};

describe("OutboxMail", () => {
  it("sends an e-mail once, with the link that it was posted with", async () => {
    const { mails, message, sent, pass } = await world(3);
    await mails[0]?.post(message);
    await pass(60_000);
    expect(sent).toMatchObject([{ kind: "new_password", to: message.to, token: TOKEN }]);
  });

  it("reads an empty outbox without a write, which would wait for a lock", async () => {
    const { database, pass } = await world();
    const transactions = vi.spyOn(database, "transaction");
    await pass(60_000);
    expect(transactions).not.toHaveBeenCalled();
  });

  it("tries again for a day, with the same id and each time a link that works", async () => {
    const { mails, message, sent, state, pass, reporter, stores, secrets, clock } = await world();
    state.failure = away;
    await mails[0]?.post(message);
    await pass(12 * HOUR_MILLISECONDS, 300_000);
    expect(sent.length).toBeGreaterThan(5);
    expect(reporter.of("mail_failed")).toEqual([]);
    state.failure = undefined;
    const before = sent.length;
    await pass(12 * HOUR_MILLISECONDS, 300_000);
    expect(sent).toHaveLength(before + 1);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    const tokens = sent.map((one) => ("token" in one ? one.token : ""));
    expect(new Set(tokens).size).toBe(sent.length);
    const link = secrets.sha256(tokens.at(-1) ?? "");
    const sentAt = new Date(clock.now().getTime() - 12 * HOUR_MILLISECONDS);
    expect(await stores.links.find(link, sentAt)).toBe(message.to);
  });

  it("makes new confirmation links for the requesting account, which set no password", async () => {
    const { mails, sent, state, pass, stores, secrets, clock, account } = await world();
    state.failure = away;
    const to = "ann@new.example.com" as Email;
    await mails[0]?.post({ kind: "confirm_email", to, token: TOKEN, accountId: account.id });
    await pass(60_000);
    state.failure = undefined;
    await pass(120_000);
    const last = sent.at(-1);
    const token = (last !== undefined && "token" in last ? last.token : "") as PasswordLinkToken;
    expect([sent[0], last]).toMatchObject([{ token: TOKEN }, { token: expect.not.stringMatching(TOKEN) }]);
    expect(await stores.links.find(emailLinkDigest(secrets, account.id, token), clock.now())).toBe(to);
    expect(await stores.links.find(emailLinkDigest(secrets, accountId(2), token), clock.now())).toBeUndefined();
    expect(await stores.links.find(secrets.sha256(token), clock.now())).toBeUndefined();
  });

  it("sends notices without a link", async () => {
    const { mails, sent, pass, account } = await world();
    const kinds = ["password_changed", "email_changed", "email_in_use", "account_deleted"] as const;
    for (const kind of kinds) await mails[0]?.post({ kind, to: account.email });
    await pass(30_000);
    expect(sent.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    for (const message of sent) {
      expect("token" in message).toBe(false);
      const { subject, text } = messageOf(message, "https://panorama.example", undefined);
      expect([subject, text]).toEqual([expect.stringMatching(/^(Your|This) /), expect.not.stringContaining("token=")]);
    }
  });

  it("gives an e-mail up after a day, and names the account", async () => {
    const { mails, message, sent, state, pass, reporter, account } = await world();
    state.failure = away;
    await mails[0]?.post(message);
    await pass(30 * HOUR_MILLISECONDS, 300_000);
    const failed = { kind: "mail_failed", detail: away.detail, email: "new_password", accountId: account.id };
    expect(reporter.of("mail_failed")).toEqual([failed]);
    const attempts = sent.length;
    await pass(HOUR_MILLISECONDS, 300_000);
    expect(sent).toHaveLength(attempts);
  });

  it("gives an e-mail up at once that the mail server refuses for good", async () => {
    const { mails, message, sent, state, pass, reporter } = await world();
    state.failure = { permanent: true, detail: "550 no such mailbox" };
    await mails[0]?.post(message);
    await pass(60_000);
    expect(sent).toHaveLength(1);
    expect(reporter.of("mail_failed")).toHaveLength(1);
  });

  it("sends e-mails of another process, and e-mails that a killed process had begun to send", async () => {
    const { outbox, message, sent, pass, clock } = await world();
    await outbox.add({ id: "invited", kind: "invitation", to: message.to }, clock.now());
    await outbox.add({ id: "begun", kind: "sign_up", to: message.to }, new Date(clock.now().getTime() - 1));
    const [begun] = await outbox.claim(clock.now(), new Date(clock.now().getTime() + 90_000), 1);
    expect(begun?.id).toBe("begun");
    await pass(10_000);
    expect(sent.map(({ id }) => id)).toEqual(["invited"]);
    await pass(90_000);
    expect(sent.map(({ id }) => id)).toEqual(["invited", "begun"]);
  });

  it("stores an e-mail before the answer, and the same for an address that gets none", async () => {
    const { mails, message, outbox, sent, clock, pass } = await world();
    const stored: string[] = [];
    const add = outbox.add.bind(outbox);
    outbox.add = async (posted, dueAt) => {
      await add(posted, dueAt);
      stored.push(posted.kind);
    };
    await mails[0]?.post(message);
    expect(stored).toEqual(["new_password"]);
    await mails[0]?.pretend(message.to);
    expect(stored).toEqual(["new_password", "none"]);
    await pass(180_000);
    expect(sent).toMatchObject([{ kind: "new_password" }]);
    expect(await outbox.claim(new Date(8.64e15), clock.now(), 9)).toEqual([]);
  });

  it("sends a new link if the first attempt begins late", async () => {
    const { mails, message, sent, outbox, clock, pass } = await world();
    const claim = outbox.claim.bind(outbox);
    outbox.claim = async () => [];
    await mails[0]?.post(message);
    // Another process has taken it, and is killed.
    expect(await claim(clock.now(), new Date(clock.now().getTime() + 90_000), 1)).toHaveLength(1);
    outbox.claim = claim;
    await pass(120_000);
    expect(sent).toMatchObject([{ kind: "new_password", token: expect.not.stringMatching(TOKEN) }]);
  });

  it("refuses the request whose e-mail cannot be stored, and reports an outbox that cannot be read", async () => {
    const { mails, message, outbox, reporter, pass } = await world();
    outbox.add = async () => Promise.reject(new Error("no database"));
    outbox.claim = async () => Promise.reject(new Error("no database"));
    await expect(mails[0]?.post(message)).rejects.toThrow("no database");
    await pass(10_000);
    expect(reporter.of("work_failed")[0]).toMatchObject({ work: "mail" });
  });
});
