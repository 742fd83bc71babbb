import { isEvent, parseJson } from "./requests/check-answer.js";
import type { PanoramaEvent } from "./resources.js";

/**
 * Why a webhook must not be trusted. `missing_header`: it is not signed. `wrong_time`: the timestamp differs from now
 * by more than five minutes. `wrong_signature`: it was signed with another secret, or changed afterwards.
 * `unknown_body`: the signature is valid, but the body is no event.
 */
export type WebhookErrorKind = "missing_header" | "wrong_time" | "wrong_signature" | "unknown_body";

/** A webhook that must not be trusted: answer it with 400. */
export class WebhookError extends Error {
  readonly kind: WebhookErrorKind;

  constructor(kind: WebhookErrorKind, message: string) {
    super(message);
    Object.defineProperty(this, "name", { value: "WebhookError" });
    this.kind = kind;
  }
}

/** The headers of a request, as `Headers` or as Node.js has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies the signature of a webhook (Standard Webhooks) and returns its event. Rejects with a `WebhookError`.
 *
 * @param body as it was received, before JSON is parsed
 * @param secrets the secret of the endpoint (`whsec_…`), or the old and the new one while you replace it
 */
export const verifyWebhook = async (
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { now = new Date() }: { readonly now?: Date } = {},
): Promise<PanoramaEvent> => {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    const message = "The webhook lacks webhook-id, webhook-timestamp or webhook-signature.";
    throw new WebhookError("missing_header", message);
  }
  const age = Math.abs(now.getTime() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) {
    throw new WebhookError("wrong_time", `The webhook-timestamp ${timestamp} is not within five minutes of now.`);
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  if (!(await isSigned(signedText(id, timestamp, text), signatures, [secrets].flat()))) {
    const message =
      "The webhook was not signed with this secret, or was changed. Compare the secret with the endpoint's.";
    throw new WebhookError("wrong_signature", message);
  }
  const event = parseJson(text);
  if (!isEvent(event)) throw new WebhookError("unknown_body", "The body of the webhook is no event.");
  return { ...(event as PanoramaEvent), id };
};

/**
 * The headers of a webhook with this body, as the service sends them: for tests of your endpoint. Throws a `TypeError`
 * for a secret that is not base64 after `whsec_`.
 */
export const signWebhook = async (
  body: string,
  secret: string,
  { id = "evt_test", now = new Date() }: { readonly id?: string; readonly now?: Date } = {},
): Promise<Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>>> => {
  const key = await keyOf(secret, "sign");
  if (key === undefined) throw new TypeError("The secret is not base64 after whsec_.");
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = await crypto.subtle.sign("HMAC", key, signedText(id, timestamp, body));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${base64}` };
};

const signedText = (id: string, timestamp: string, body: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`${id}.${timestamp}.${body}`);

/** `verify` of WebCrypto compares in constant time. */
const isSigned = async (
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> => {
  for (const secret of secrets) {
    const key = await keyOf(secret, "verify");
    if (key === undefined) continue;
    for (const signature of signatures.split(" ")) {
      const [version, value = ""] = signature.split(",");
      const bytes = version === "v1" ? bytesOf(value) : undefined;
      if (bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return true;
    }
  }
  return false;
};

/** `undefined` for text that is no secret. */
const keyOf = async (secret: string, usage: "sign" | "verify") => {
  const raw = bytesOf(secret.replace(/^whsec_/, ""));
  if (raw === undefined || raw.length === 0) return undefined;
  return crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, [usage]);
};

/** `undefined` for text that is not base64. */
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const headerOf = (headers: WebhookHeaders, name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
};
