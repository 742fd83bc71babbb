import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkMailServer, SmtpMail } from "../../../adapters/mail/smtp-mail.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { RecordingReporter } from "../../../adapters/memory/recording-reporter.js";
import type { Letter } from "../../../application/ports/mail.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PasswordLinkToken } from "../../../domain/accounts/password-link.js";
import { freePort } from "../../support/free-port.js";
import { drippingServer, MailServer, silentServer } from "../../support/mail-server.js";

const TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE" as PasswordLinkToken;
const aLetter = (differences: Partial<Letter> = {}): Letter => ({
  kind: "new_password",
  to: "ann@example.com" as Email,
  token: TOKEN,
  ...differences,
});

const aServer = async (password?: string): Promise<MailServer> => {
  const server = await MailServer.start(password);
  onTestFinished(() => server.end());
  return server;
};

const aMail = (url: string, sendingMilliseconds?: number) => {
  const clock = new HandClock();
  const reporter = new RecordingReporter();
  const settings = { url, from: "Panorama <no-reply@panorama.example>", publicUrl: "https://panorama.example" };
  const mail = new SmtpMail(settings, { clock, reporter }, sendingMilliseconds);
  onTestFinished(() => mail.close());
  return { mail, clock, reporter };
};

describe("SmtpMail", () => {
  it.each([
    ["new_password", "Set a new password"],
    ["sign_up", "Confirm your e-mail address"],
    ["already_registered", "You already have an account"],
  ] as const)("sends a letter %s with its link to the mail server", async (kind, subject) => {
    const server = await aServer();
    const { mail, reporter } = aMail(`smtp://127.0.0.1:${server.port}`);
    mail.post(aLetter({ kind }));
    await expect.poll(() => server.received).toHaveLength(1);
    const [received] = server.received;
    expect(received).toMatchObject({ from: "no-reply@panorama.example", to: ["ann@example.com"] });
    expect(received?.text).toContain(`Subject: ${subject}\r\n`);
    expect(received?.text).toContain("From: Panorama <no-reply@panorama.example>\r\n");
    expect(received?.text).toContain(`https://panorama.example/password/reset?token=${TOKEN}\r\n`);
    expect(reporter.events).toEqual([]);
  });

  it("encrypts the connection and logs in with user and password", async () => {
    const server = await aServer("s p@ce");
    const options = "?tls.rejectUnauthorized=false"; // the test server's certificate is not valid
    const { mail, reporter } = aMail(`smtp://user:s%20p%40ce@127.0.0.1:${server.port}/${options}`);
    mail.post(aLetter());
    await expect.poll(() => [server.received.length, reporter.events]).toEqual([1, []]);
    expect(server.received[0]).toMatchObject({ secure: true, user: "user" });
  });

  it("sends nothing to a server whose certificate is not valid", async () => {
    const server = await aServer("s p@ce");
    const { mail, clock, reporter } = aMail(`smtp://user:s%20p%40ce@127.0.0.1:${server.port}`);
    mail.post(aLetter());
    for (const pause of [5_000, 60_000]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      await clock.advance(pause);
    }
    await expect
      .poll(() => reporter.events)
      .toEqual([{ kind: "mail_failed", detail: expect.stringContaining("certificate") }]);
    expect(server.received).toEqual([]);
  });

  it("has one recipient whatever the address contains", async () => {
    const server = await aServer();
    const { mail, reporter } = aMail(`smtp://127.0.0.1:${server.port}`);
    const addresses = ["eve,ann@example.com", "eve;ann@example.com", '"eve",ann@example.com', "a<b>c@example.com"];
    for (const to of addresses) mail.post(aLetter({ to: to as Email }));
    await expect.poll(() => server.received.length + reporter.of("mail_failed").length).toBe(addresses.length);
    for (const { to } of server.received) {
      expect(to).toHaveLength(1);
      expect(to[0]).not.toBe("ann@example.com");
    }
  });

  it("tries again after a temporary refusal, and while the server cannot be reached", async () => {
    const port = await freePort();
    const { mail, clock, reporter } = aMail(`smtp://127.0.0.1:${port}`);
    mail.post(aLetter());
    await expect.poll(() => clock.sleeping).toBe(1); // refused connection
    const server = await MailServer.start(undefined, port);
    onTestFinished(() => server.end());
    server.refusals = [451];
    await clock.advance(5_000);
    await expect.poll(() => [clock.sleeping, server.refusals]).toEqual([1, []]);
    await clock.advance(60_000);
    await expect.poll(() => server.received).toHaveLength(1);
    expect(reporter.events).toEqual([]);
  });

  it("reports a letter after three failed attempts, and at once after a permanent refusal", async () => {
    const server = await aServer();
    const { mail, clock, reporter } = aMail(`smtp://127.0.0.1:${server.port}`);
    server.refusals = [451, 451, 451];
    mail.post(aLetter());
    for (const pause of [5_000, 60_000]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      expect(reporter.events).toEqual([]);
      await clock.advance(pause);
    }
    await expect.poll(() => reporter.events).toEqual([{ kind: "mail_failed", detail: expect.stringContaining("451") }]);
    server.refusals = [550];
    mail.post(aLetter());
    await expect.poll(() => reporter.of("mail_failed")).toHaveLength(2);
    expect(clock.sleeping).toBe(0);
    expect(JSON.stringify(reporter.events)).not.toContain(TOKEN);
  });

  it("returns at once, and reports further letters while 500 wait for a server that does not answer", async () => {
    const { port, end } = await silentServer();
    const { mail, reporter } = aMail(`smtp://127.0.0.1:${port}`);
    for (let n = 0; n < 501; n += 1) mail.post(aLetter());
    const detail = "500 e-mails are waiting for the mail server";
    expect(reporter.events).toEqual([{ kind: "mail_failed", detail }]);
    end();
  });

  it("leaves a server that sends its answers byte by byte, without an end, and closes the connection", async () => {
    const server = await drippingServer();
    onTestFinished(server.end);
    const { mail, clock, reporter } = aMail(`smtp://127.0.0.1:${server.port}`, 100);
    mail.post(aLetter());
    for (const pause of [5_000, 60_000]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      await clock.advance(pause);
    }
    await expect.poll(() => reporter.events).toEqual([{ kind: "mail_failed", detail: expect.any(String) }]);
    await expect.poll(() => server.open).toBe(0);
  });

  it("checkMailServer says so if a server sends byte by byte", async () => {
    const server = await drippingServer();
    onTestFinished(server.end);
    const checked = await checkMailServer(`smtp://127.0.0.1:${server.port}`, 50);
    expect(checked._unsafeUnwrapErr()).toEqual({ isLogin: false, detail: "it answers too slowly" });
  });

  it("close starts no more attempts, and waits at most five seconds for those in progress", async () => {
    const { port, end } = await silentServer();
    const { mail, clock, reporter } = aMail(`smtp://127.0.0.1:${port}`);
    onTestFinished(end); // before the mail is closed again
    for (let n = 0; n < 3; n += 1) mail.post(aLetter()); // two connections at a time
    await setImmediate();
    let closed = false;
    const closing = mail.close().then(() => {
      closed = true;
    });
    await clock.advance(4_999);
    expect(closed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(reporter.events).toEqual([]);
  });
});
