import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signWebhook, verifyWebhook, WebhookError } from "../../../adapters/client/webhooks.js";
import { anEndpointSecret } from "../../../adapters/contracts/support/builders.js";
import { webhookSignature } from "../../../adapters/webhooks/http-webhook-sender.js";

const NOW = new Date("2026-11-21T12:00:00Z");
const SECONDS = NOW.getTime() / 1000;
const BODY = JSON.stringify({
  type: "panorama.failed",
  timestamp: NOW.toISOString(),
  data: {
    id: "pan_1",
    status: "failed",
    credits_charged: 4,
    error: { code: "generation_failed", message: "Ödön's 🌄" },
  },
});
const EVENT = { id: "evt_1", ...JSON.parse(BODY) };

const headersOf = (n = 1, seconds = SECONDS, body = BODY, id = "evt_1") => ({
  "webhook-id": id,
  "webhook-timestamp": String(seconds),
  "webhook-signature": webhookSignature(id, seconds, body, [anEndpointSecret(n)]),
});

describe("verifyWebhook", () => {
  it("returns the event of a webhook that the official library has signed", async () => {
    const signature = new Webhook(anEndpointSecret()).sign("evt_1", NOW, BODY);
    const headers = { ...headersOf(), "webhook-signature": `v2,xyz ${signature}` };
    expect(await verifyWebhook(BODY, headers, anEndpointSecret(), { now: NOW })).toEqual(EVENT);
    const bytes = new TextEncoder().encode(BODY);
    expect(await verifyWebhook(bytes, new Headers(headers), anEndpointSecret(), { now: NOW })).toEqual(EVENT);
  });

  it("accepts each of several secrets, and one of two signatures", async () => {
    const secrets = [anEndpointSecret(2), anEndpointSecret(1)];
    expect(await verifyWebhook(BODY, headersOf(1), secrets, { now: NOW })).toEqual(EVENT);
    const both = { ...headersOf(), "webhook-signature": webhookSignature("evt_1", SECONDS, BODY, secrets) };
    for (const secret of secrets) expect(await verifyWebhook(BODY, both, secret, { now: NOW })).toEqual(EVENT);
  });

  it.each([
    ["without headers", BODY, {}, "missing_header"],
    ["from more than five minutes ago", BODY, headersOf(1, SECONDS - 301), "wrong_time"],
    ["from more than five minutes ahead", BODY, headersOf(1, SECONDS + 301), "wrong_time"],
    ["with another secret", BODY, headersOf(2), "wrong_signature"],
    ["with another body", `${BODY} `, headersOf(), "wrong_signature"],
    ["with another id", BODY, { ...headersOf(), "webhook-id": "evt_2" }, "wrong_signature"],
    ["with a signature that is not base64", BODY, { ...headersOf(), "webhook-signature": "v1,?" }, "wrong_signature"],
    ["without a type", '{"x":1}', headersOf(1, SECONDS, '{"x":1}'), "unknown_body"],
    ["that is no JSON", "x", headersOf(1, SECONDS, "x"), "unknown_body"],
  ] as const)("rejects a webhook %s", async (_, body, headers, kind) => {
    const error = await verifyWebhook(body, headers, anEndpointSecret(), { now: NOW }).catch((error) => error);
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ kind, name: "WebhookError" });
  });

  it("accepts a webhook that is five minutes old", async () => {
    const headers = headersOf(1, SECONDS - 300);
    expect(await verifyWebhook(BODY, headers, anEndpointSecret(), { now: NOW })).toEqual(EVENT);
  });

  it("returns an event of a type that only a newer service has", async () => {
    const body = '{"type":"panorama.renamed","timestamp":"2026-11-21T12:00:00Z","data":{"name":"x"}}';
    const headers = headersOf(1, SECONDS, body);
    expect(await verifyWebhook(body, headers, anEndpointSecret(), { now: NOW })).toMatchObject({
      type: "panorama.renamed",
    });
  });
});

describe("signWebhook", () => {
  it("signs as the service does", async () => {
    expect(await signWebhook(BODY, anEndpointSecret(), { id: "evt_1", now: NOW })).toEqual(headersOf());
    const headers = await signWebhook(BODY, anEndpointSecret());
    expect(await verifyWebhook(BODY, headers, anEndpointSecret())).toEqual({ ...EVENT, id: "evt_test" });
  });

  it("throws for a malformed secret", async () => {
    await expect(signWebhook(BODY, "whsec_?")).rejects.toThrow("The secret is not base64 after whsec_.");
  });
});
