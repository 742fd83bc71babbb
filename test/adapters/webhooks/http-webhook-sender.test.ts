import type { IncomingMessage, RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { anEndpointSecret } from "../../../adapters/contracts/support/builders.js";
import { HttpWebhookSender } from "../../../adapters/webhooks/http-webhook-sender.js";
import type { OutgoingWebhook } from "../../../application/ports/webhook-sender.js";
import { type LocalServer, startLocalServer } from "../../support/local-server.js";

const USER_AGENT = "panorama-service/3.0.0 (+https://panoramas.example)";
const servers: LocalServer[] = [];
const senders: HttpWebhookSender[] = [];

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
  for (const server of servers.splice(0)) await server.close();
});

const aReceiver = async (listener: RequestListener): Promise<string> => {
  const server = await startLocalServer(listener);
  servers.push(server);
  return server.origin;
};

const aSender = (privateOrigins: readonly string[], timeoutMilliseconds?: number): HttpWebhookSender => {
  const sender = new HttpWebhookSender(privateOrigins, USER_AGENT, timeoutMilliseconds);
  senders.push(sender);
  return sender;
};

const aWebhook = (url: string, differences: Partial<OutgoingWebhook> = {}): OutgoingWebhook => ({
  url,
  id: "evt_acc_1_0000000001",
  body: JSON.stringify({ type: "panorama.succeeded", data: { prompt: "Ödön's „lake“ 🌄" } }),
  secrets: [anEndpointSecret(1)],
  at: new Date(),
  ...differences,
});

describe("HttpWebhookSender", () => {
  it("signs for the official library, with both secrets, but not with a third one", async () => {
    const received: { readonly headers: IncomingMessage["headers"]; readonly body: string }[] = [];
    const origin = await aReceiver(async (request, response) => {
      received.push({ headers: request.headers, body: await text(request) });
      response.writeHead(204).end();
    });
    const webhook = aWebhook(`${origin}/hook?a=1`, { secrets: [anEndpointSecret(2), anEndpointSecret(1)] });
    expect(await aSender([origin]).send(webhook)).toEqual({ kind: "delivered", detail: "status 204" });
    const [{ headers, body }] = received as [(typeof received)[0]];
    expect(body).toBe(webhook.body);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": USER_AGENT,
      "webhook-id": webhook.id,
    });
    const verify = (n: number) => new Webhook(anEndpointSecret(n)).verify(body, headers as Record<string, string>);
    for (const n of [1, 2]) expect(verify(n)).toEqual(JSON.parse(webhook.body));
    expect(() => verify(3)).toThrow("No matching signature found");
  });

  it.each([
    ["http, not https", "http://example.com/hook"],
    ["a loopback address", "https://127.0.0.1/"],
  ])("does not send to %s", async (_, url) => {
    const result = await aSender([]).send(aWebhook(url));
    expect(result).toMatchObject({
      kind: "failed",
      isGone: false,
      detail: expect.stringMatching(/not a public address|is not https/),
    });
  });

  it("does not connect to a name that resolves to a private address", async () => {
    let connections = 0;
    const origin = await aReceiver(() => {});
    servers[0]?.server.on("connection", () => {
      connections += 1;
    });
    const result = await aSender([]).send(aWebhook(`https://localhost:${new URL(origin).port}/`));
    expect(result).toMatchObject({
      kind: "failed",
      detail: "the host name is unknown, or not a public address",
      cause: expect.stringContaining("localhost is "),
      isUnanswered: true,
    });
    expect(connections).toBe(0);
  });

  it.each([301, 308])("does not follow a redirect with status %i", async (status) => {
    let requests = 0;
    const origin = await aReceiver((_, response) => {
      requests += 1;
      response.writeHead(status, { location: "https://169.254.169.254/latest/meta-data" }).end();
    });
    expect(await aSender([origin]).send(aWebhook(origin))).toEqual({
      kind: "failed",
      detail: `status ${status}: redirects are not followed`,
      isGone: false,
    });
    expect(requests).toBe(1);
  });

  it.each([
    [400, false],
    [410, true],
    [500, false],
  ])("reports status %i as a failure, gone: %s", async (status, isGone) => {
    const origin = await aReceiver((_, response) => response.writeHead(status).end("no"));
    expect(await aSender([origin]).send(aWebhook(origin))).toEqual({
      kind: "failed",
      detail: `status ${status}`,
      isGone,
    });
  });

  it.each([
    [429, "3600", 3_600_000],
    [503, "Thu, 01 Jan 2026 12:00:20 GMT", 20_000],
    [429, "soon", undefined],
    [500, "3600", undefined],
  ])("hears the pause that a receiver asks for: status %i with Retry-After: %s", async (status, told, asked) => {
    const origin = await aReceiver((_, response) => response.writeHead(status, { "retry-after": told }).end());
    const at = new Date("2026-01-01T12:00:00Z");
    expect(await aSender([origin]).send(aWebhook(origin, { at }))).toEqual({
      kind: "failed",
      detail: `status ${status}`,
      isGone: false,
      retryAfterMilliseconds: asked,
    });
  });

  it("reports internal and unknown names alike", async () => {
    const send = async (host: string) => (await aSender([]).send(aWebhook(`https://${host}/`))).detail;
    const [internal, unknown, unanswered] = [
      await send("localhost"),
      await send("nowhere.invalid"),
      await send("x".repeat(64)),
    ];
    expect(unknown).toBe(internal);
    expect(unanswered).toBe(internal);
  });

  it("gives up after the timeout if the receiver does not answer", async () => {
    const origin = await aReceiver(() => {});
    const result = await aSender([origin], 200).send(aWebhook(origin));
    expect(result).toMatchObject({ kind: "failed", detail: "no answer in time", isUnanswered: true });
  });

  it("gives up after the timeout if the receiver sends its headers byte by byte", async () => {
    const origin = await aReceiver((_, response) => {
      const drip = setInterval(() => response.socket?.write("H"), 20);
      response.on("close", () => clearInterval(drip));
    });
    const result = await aSender([origin], 200).send(aWebhook(origin));
    expect(result.kind).toBe("failed");
  });

  it("closes the connection of an answer that is announced but never ends", async () => {
    let closed = () => {};
    const end = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const origin = await aReceiver((_, response) => {
      response.on("close", closed);
      response.writeHead(200, { "content-length": "100" }).write("half");
    });
    expect(await aSender([origin]).send(aWebhook(origin))).toEqual({ kind: "delivered", detail: "status 200" });
    await end;
  });

  it("reuses one connection for consecutive webhooks", async () => {
    let connections = 0;
    const origin = await aReceiver((_, response) => response.end("thank you"));
    servers[0]?.server.on("connection", () => {
      connections += 1;
    });
    const sender = aSender([origin]);
    for (let n = 0; n < 5; n += 1) {
      await sender.send(aWebhook(origin));
      await new Promise((resolve) => setImmediate(resolve)); // the short answer is read in the background
    }
    expect(connections).toBe(1);
  });

  it("reports a refused connection and a connection that is reset", async () => {
    const origin = await aReceiver((request) => request.socket.destroy());
    const unanswered = { kind: "failed", isGone: false, isUnanswered: true };
    expect(await aSender([origin]).send(aWebhook(origin))).toMatchObject({
      ...unanswered,
      detail: "the connection was closed before an answer",
    });
    await servers[0]?.close();
    const refused = await aSender([origin]).send(aWebhook(origin));
    expect(refused).toMatchObject({ ...unanswered, detail: "the connection was refused" });
    expect(refused).toMatchObject({ cause: expect.stringContaining("127.0.0.1") });
  });

  it("does not reveal the resolved address of a private origin to the account", async () => {
    const origin = await aReceiver(() => {});
    const named = origin.replace("127.0.0.1", "localhost");
    await servers[0]?.close();
    const result = await aSender([named]).send(aWebhook(named));
    expect(result).toMatchObject({ kind: "failed", detail: "the connection was refused" });
  });

  it("keeps few connections open, for a short time, to receivers that never close them", async () => {
    const RECEIVERS = 150;
    let open = 0;
    const origins: string[] = [];
    for (let n = 0; n < RECEIVERS; n += 1) {
      const origin = await aReceiver((_, response) => {
        response.writeHead(200, { "keep-alive": "timeout=600", "content-length": "2" }).end("ok");
      });
      const { server } = servers.at(-1) as LocalServer;
      server.keepAliveTimeout = 0; // never
      server.on("connection", (socket) => {
        open += 1;
        socket.on("close", () => {
          open -= 1;
        });
      });
      origins.push(origin);
    }
    const sender = aSender(origins);
    for (const origin of origins) {
      expect(await sender.send(aWebhook(origin))).toMatchObject({ kind: "delivered" });
    }
    await expect.poll(() => open).toBeLessThanOrEqual(16);
    await expect.poll(() => open).toBe(0);
  });
});
