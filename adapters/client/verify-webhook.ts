import { err, ok, type Result } from "neverthrow";
import { type WebhookEvent, webhookEventSchema } from "./answers.js";

/**
 * Why a webhook must not be trusted. `missing_header`: it is not signed. `wrong_time`: it was sent more than five
 * minutes ago, or its clock differs by as much. `wrong_signature`: it was signed with another secret or changed
 * afterwards. `unknown_body`: it is genuine, but this version does not know its event: answer it with 204 and ignore
 * it.
 */
export type WebhookRefusal = {
  readonly kind: "missing_header" | "wrong_time" | "wrong_signature" | "unknown_body";
  readonly message: string;
};

/** `id` is the same each time an event is sent: ignore those that you have handled. */
export type VerifiedWebhook = { readonly id: string; readonly event: WebhookEvent };

const TOLERANCE_SECONDS = 5 * 60;

/** The headers of a request, as `Headers` or as Node.js has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook of the service (Standard Webhooks). `body` is the text as it was received, before JSON is parsed.
 * `secrets`: the `whsec_…` of the endpoint; several while you replace one. Runs in Node.js and in browsers.
 */
export const verifyWebhook = async (
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  now: Date = new Date(),
): Promise<Result<VerifiedWebhook, WebhookRefusal>> => {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    return refuse("missing_header", "The webhook has no webhook-id, webhook-timestamp or webhook-signature.");
  }
  const age = Math.abs(now.getTime() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) {
    return refuse("wrong_time", `The webhook-timestamp ${timestamp} is not within five minutes of now.`);
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  if (!(await isSigned(signed, signatures, typeof secrets === "string" ? [secrets] : secrets))) {
    return refuse(
      "wrong_signature",
      "No signature of the webhook is right. Compare the secret with that of the endpoint.",
    );
  }
  const event = webhookEventSchema.safeParse(parseJson(body));
  return event.success
    ? ok({ id, event: event.data })
    : refuse("unknown_body", "The body of the webhook is no known event.");
};

const refuse = (kind: WebhookRefusal["kind"], message: string) => err({ kind, message });

/** `verify` of WebCrypto compares in constant time. */
const isSigned = async (
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> => {
  for (const secret of secrets) {
    const raw = bytesOf(secret.replace(/^whsec_/, ""));
    if (raw === undefined || raw.length === 0) continue;
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures.split(" ")) {
      const [version, value = ""] = signature.split(",");
      const bytes = version === "v1" ? bytesOf(value) : undefined;
      if (bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return true;
    }
  }
  return false;
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
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  const value = entry?.[1];
  return typeof value === "string" ? value : value?.[0];
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
