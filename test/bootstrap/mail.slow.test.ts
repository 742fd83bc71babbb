import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteFile } from "../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { MailServer } from "../support/mail-server.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

const PASSWORD = "correct horse battery";

const post = (installation: Installation, path: string, fields: Record<string, string>) =>
  fetch(installation.url + path, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
    headers: { origin: installation.url },
  });

const LINK = /http:\/\/localhost:\d+\/password\/reset\?token=[\w-]+/;

/** Opens the link, sends the form of its page, and returns the status of the login that follows. */
const followAndLogIn = async (installation: Installation, text: string, email: string): Promise<number> => {
  const link = LINK.exec(text)?.[0] ?? "";
  const page = await (await fetch(link)).text();
  const token = /name="token" value="([\w-]+)"/.exec(page)?.[1] ?? "";
  expect((await post(installation, "/password/reset", { token, password: PASSWORD })).status).toBe(303);
  return (await post(installation, "/login", { email, password: PASSWORD })).status;
};

describe("the service with a mail server", () => {
  let installation: Installation;
  let server: MailServer;

  beforeAll(async () => {
    server = await MailServer.start();
    installation = await migratedInstallation({
      DEMO: "false",
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      MAIL_FROM: "Panorama <no-reply@panorama.example>",
      OPERATOR_EMAIL: "orders@panorama.example",
    });
    await installation.start();
  });
  afterAll(async () => {
    await installation?.remove();
    await server?.end();
  });

  it("opens an account when the owner of the address follows the link, and reports an order once", async () => {
    const email = "ann@example.com";
    expect((await post(installation, "/signup", { email })).headers.get("location")).toBe("/signup?sent=1");
    await expect.poll(() => server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({ from: "no-reply@panorama.example", to: [email] });
    expect((await post(installation, "/login", { email, password: PASSWORD })).status).toBe(401);
    expect(await followAndLogIn(installation, server.received[0]?.text ?? "", email)).toBe(303);

    const login = await post(installation, "/login", { email, password: PASSWORD });
    const headers = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "", origin: installation.url };
    const page = await (await fetch(`${installation.url}/account`, { headers })).text();
    const fieldOf = (pattern: RegExp) => pattern.exec(page)?.[1] ?? "";
    const ordered = await fetch(`${installation.url}/account/orders`, {
      method: "POST",
      headers,
      redirect: "manual",
      body: new URLSearchParams({
        form_token: fieldOf(/name="form_token" value="([^"]+)"/),
        credits: fieldOf(/name="credits" value="(\d+)" checked/),
      }),
    });
    const order = /^\/account\/orders\/([\w-]+)\?placed=1$/.exec(ordered.headers.get("location") ?? "")?.[1];
    expect(order).toBeDefined();

    // What is not in the outbox any more is not sent again.
    const database = openSqliteFile(join(installation.dataDir, "panorama.sqlite"));
    onTestFinished(() => database.close());
    const toOperator = () => server.received.filter(({ to }) => to.includes("orders@panorama.example"));
    await expect.poll(toOperator).toHaveLength(1);
    await expect.poll(() => database.all("select id from outgoing_email", [])).toEqual([]);
    expect(toOperator()).toHaveLength(1);
    expect(toOperator()[0]?.text).toContain(`panorama order pay --order ${order}`);
  });
});

describe("the service without a mail server", () => {
  it("writes the link for a new password to the log", async () => {
    const installation = await migratedInstallation({ DEMO: "false" });
    onTestFinished(() => installation.remove());
    await installation.start();
    const email = "bob@example.com";
    await installation.answer("account", "create", "--email", email);
    await post(installation, "/password/forgot", { email: "nobody@example.com" });
    await post(installation, "/password/forgot", { email });
    await expect.poll(() => installation.log).toContain("/password/reset?token=");
    const lines = installation.log.split("\n").filter((line) => line.includes("password_link"));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warn", event: "password_link", to: email });
    expect(await followAndLogIn(installation, lines[0] ?? "", email)).toBe(303);
  });
});
