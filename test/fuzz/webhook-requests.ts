import { createHmac } from "node:crypto";
import fc from "fast-check";
import { checkoutWebhook } from "../support/fake-stripe.js";
import { mutatedJson, oddJson, oddText } from "./odd-values.js";
import type { WireRequest } from "./wire.js";

/** What the senders of webhooks know. */
export type WebhookSenders = {
  /** With `whsec_`. */
  readonly replicateSecret: string;
  readonly stripeSecret: string;
  /** The path and query of an issued webhook URL, for any number, and the prediction of its task. */
  hookOf(n: number): { readonly path: string; readonly prediction: unknown } | undefined;
  /** Pending orders. */
  orderOf(n: number): string;
};

export type WebhookRequest = { toWire(senders: WebhookSenders, n: number): WireRequest };

/** How the body is signed: rightly, or in a way that must be refused. */
const SIGNATURES = ["right", "right", "right", "right", "wrong", "old", "none", "odd"] as const;
type Signing = (typeof SIGNATURES)[number];

const post = (path: string, headers: readonly string[], body: Buffer): WireRequest => {
  const lines = [`POST ${path} HTTP/1.1`, "host: localhost", ...headers, `content-length: ${body.length}`];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return { parts: [Buffer.concat([head, body])], answers: 1, methods: ["POST"] };
};

const unixSeconds = (signing: Signing): string =>
  signing === "odd" ? "1e9" : String(Math.floor(Date.now() / 1000) - (signing === "old" ? 3_600 : 0));

const standardHeaders = (secret: string, body: Buffer, signing: Signing): string[] => {
  if (signing === "none") return [];
  const key = Buffer.from(signing === "wrong" ? "another" : secret.slice("whsec_".length), "base64");
  const timestamp = unixSeconds(signing);
  const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.`).update(body).digest("base64");
  const list = signing === "odd" ? `v1, v1a,x ${signature} v1,%` : `v1,AAAA v1,${signature}`;
  return ["webhook-id: msg_1", `webhook-timestamp: ${timestamp}`, `webhook-signature: ${list}`];
};

const stripeHeaders = (secret: string, body: Buffer, signing: Signing): string[] => {
  if (signing === "none") return [];
  const timestamp = unixSeconds(signing);
  const key = signing === "wrong" ? "another" : secret;
  const signature = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
  return [`stripe-signature: t=${timestamp},v1=${signing === "odd" ? `,v1=,=,${signature}` : signature}`];
};

/** JSON text, or bytes that are none. */
const bytesOf = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 8, arbitrary: values.map((value) => Buffer.from(JSON.stringify(value) ?? "")) },
    { weight: 1, arbitrary: oddText.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(Buffer.from("[".repeat(50_000)), Buffer.alloc(600 * 1024, " "), Buffer.from('{"id":')),
    },
  );

/** `change` is drawn before the value that it changes is known. */
const changed = (values: (seed: unknown) => fc.Arbitrary<unknown>) => (genuine: unknown, seed: number) =>
  fc.sample(bytesOf(values(genuine)), { seed, numRuns: 1 })[0] ?? Buffer.alloc(0);

const contentOf = changed((genuine) =>
  fc.oneof({ weight: 3, arbitrary: mutatedJson(genuine) }, { weight: 1, arbitrary: oddJson }, fc.constant(genuine)),
);

const providerWebhook = fc.tuple(fc.constantFrom(...SIGNATURES), fc.integer(), oddText, fc.nat({ max: 9 })).map(
  ([signing, seed, odd, kind]): WebhookRequest => ({
    toWire: ({ hookOf, replicateSecret }, n) => {
      const { path = "/hooks/replicate?task=none&proof=", prediction = {} } = hookOf(n) ?? {};
      const body = contentOf(prediction, seed);
      const text = encodeURIComponent(odd.toWellFormed());
      const changedPath = [
        path.replace(/task=[^&]*/, `task=${text}`),
        path.replace(/proof=\w\w/, `proof=${text}`),
        path.replace("replicate", text === "" ? "x" : text),
        `${path}&task=${text}&proof=zz`,
      ][kind];
      return post(changedPath ?? path, standardHeaders(replicateSecret, body, signing), body);
    },
  }),
);

const paymentWebhook = fc.tuple(fc.constantFrom(...SIGNATURES), fc.integer(), fc.boolean()).map(
  ([signing, seed, isGenuine]): WebhookRequest => ({
    toWire: ({ stripeSecret, orderOf }, n) => {
      const genuine = checkoutWebhook(orderOf(n));
      const body = isGenuine && signing === "right" ? Buffer.from(genuine) : contentOf(JSON.parse(genuine), seed);
      return post("/payments/stripe", stripeHeaders(stripeSecret, body, signing), body);
    },
  }),
);

export const webhookRequests: fc.Arbitrary<WebhookRequest> = fc.oneof(providerWebhook, paymentWebhook);
