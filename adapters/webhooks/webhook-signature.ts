import { createHmac } from "node:crypto";
import type { EndpointSecret } from "../../domain/webhooks/webhook-endpoint.js";

/** The value of `webhook-signature` (Standard Webhooks): one signature for each secret, separated by spaces. */
export const webhookSignature = (
  id: string,
  timestampSeconds: number,
  body: string,
  secrets: readonly EndpointSecret[],
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestampSeconds}.${body}`).digest("base64")}`;
    })
    .join(" ");
