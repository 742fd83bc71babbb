import { describe, expect, it, onTestFinished } from "vitest";
import type { SentMessage } from "../../../adapters/mail/message-of.js";
import { checkMailServer, SmtpSender } from "../../../adapters/mail/smtp-sender.js";
import type { Email } from "../../../domain/accounts/account.js";
import type { PasswordLinkToken } from "../../../domain/accounts/password.js";
import { freePort } from "../../support/free-port.js";
import { drippingServer, MailServer } from "../../support/mail-server.js";

const TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE" as PasswordLinkToken;
const aMessage = (differences: Partial<SentMessage> = {}): SentMessage => ({
  id: "e-mail-1",
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

const aSender = (url: string, sendingMilliseconds?: number) =>
  new SmtpSender(
    { url, from: "Panorama <no-reply@panorama.example>", publicUrl: "https://panorama.example" },
    sendingMilliseconds,
  );

describe("SmtpSender", () => {
  it.each([
    ["new_password", "Set a new password"],
    ["sign_up", "Confirm your e-mail address"],
    ["already_registered", "You already have an account"],
    ["invitation", "You are invited"],
  ] as const)("sends an e-mail %s with its link and its own message id to the mail server", async (kind, subject) => {
    const server = await aServer();
    expect(await aSender(`smtp://127.0.0.1:${server.port}`).send(aMessage({ kind }))).toBeUndefined();
    const [received] = server.received;
    expect(received).toMatchObject({ from: "no-reply@panorama.example", to: ["ann@example.com"] });
    expect(received?.text).toContain(`Subject: ${subject}\r\n`);
    expect(received?.text).toContain("From: Panorama <no-reply@panorama.example>\r\n");
    expect(received?.text).toContain("Message-ID: <e-mail-1@panorama.example>\r\n");
    expect(received?.text).toContain(`https://panorama.example/password/reset?token=${TOKEN}\r\n`);
  });

  it("names the service in subject and text if it has a name of its own", async () => {
    const server = await aServer();
    const settings = { from: "a@b.example", publicUrl: "https://panorama.example", siteName: "Weitblick" };
    const sender = new SmtpSender({ url: `smtp://127.0.0.1:${server.port}`, ...settings });
    expect(await sender.send(aMessage({ kind: "invitation" }))).toBeUndefined();
    const [received] = server.received;
    expect(received?.text).toContain("Subject: Weitblick: You are invited\r\n");
    expect(received?.text).toContain("open an account at Weitblick (https://panorama.example).");
  });

  it("encrypts the connection and logs in with user and password", async () => {
    const server = await aServer("s p@ce");
    const options = "?tls.rejectUnauthorized=false"; // the test server's certificate is not valid
    const sender = aSender(`smtp://user:s%20p%40ce@127.0.0.1:${server.port}/${options}`);
    expect(await sender.send(aMessage())).toBeUndefined();
    expect(server.received[0]).toMatchObject({ secure: true, user: "user" });
  });

  it("tries again after a refused login, which the operator can mend", async () => {
    const server = await aServer("s p@ce");
    const sender = aSender(`smtp://user:wrong@127.0.0.1:${server.port}/?tls.rejectUnauthorized=false`);
    expect(await sender.send(aMessage())).toEqual({ permanent: false, detail: expect.stringContaining("535") });
  });

  it("sends nothing to a server whose certificate is not valid", async () => {
    const server = await aServer("s p@ce");
    const failure = await aSender(`smtp://user:s%20p%40ce@127.0.0.1:${server.port}`).send(aMessage());
    expect(failure).toEqual({ permanent: false, detail: expect.stringContaining("certificate") });
    expect(server.received).toEqual([]);
  });

  it("sends to one recipient for any characters in the address", async () => {
    const server = await aServer();
    const sender = aSender(`smtp://127.0.0.1:${server.port}`);
    const addresses = ["eve,ann@example.com", "eve;ann@example.com", '"eve",ann@example.com', "a<b>c@example.com"];
    const failures = await Promise.all(addresses.map((to) => sender.send(aMessage({ to: to as Email }))));
    expect(server.received.length + failures.filter((failure) => failure !== undefined).length).toBe(addresses.length);
    for (const { to } of server.received) {
      expect(to).toHaveLength(1);
      expect(to[0]).not.toBe("ann@example.com");
    }
  });

  it("reports if another attempt can succeed", async () => {
    const server = await aServer();
    server.refusals = [451, 550];
    const sender = aSender(`smtp://127.0.0.1:${server.port}`);
    expect(await sender.send(aMessage())).toEqual({ permanent: false, detail: expect.stringContaining("451") });
    expect(await sender.send(aMessage())).toEqual({ permanent: true, detail: expect.stringContaining("550") });
    const failure = await aSender(`smtp://127.0.0.1:${await freePort()}`).send(aMessage());
    expect(failure).toEqual({ permanent: false, detail: expect.not.stringContaining(TOKEN) });
  });

  it("leaves a server that sends its answers byte by byte, without an end, and closes the connection", async () => {
    const server = await drippingServer();
    onTestFinished(server.end);
    expect(await aSender(`smtp://127.0.0.1:${server.port}`, 100).send(aMessage())).toMatchObject({ permanent: false });
    await expect.poll(() => server.open).toBe(0);
  });

  it("checkMailServer reports a server that sends byte by byte", async () => {
    const server = await drippingServer();
    onTestFinished(server.end);
    const checked = await checkMailServer(`smtp://127.0.0.1:${server.port}`, 500);
    // On a busy machine, a byte can come later than the client waits for one.
    const detail = expect.stringMatching(/^(it answers too slowly|Timeout)$/);
    expect(checked._unsafeUnwrapErr()).toEqual({ isLogin: false, detail });
  });
});
