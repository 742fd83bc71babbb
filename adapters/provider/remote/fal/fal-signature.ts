import { createHash, createPublicKey, verify } from "node:crypto";
import { err, ok } from "neverthrow";
import * as z from "zod";
import { unverifiedWebhook } from "../../../../application/errors.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";
import { isRecent, PublishedKeys } from "../webhooks/signatures.js";
import type { VerifySignature } from "../webhooks/webhook-urls.js";

/** A JWK set; 32 bytes are 43 characters of base64url. */
const jwksSchema = z
  .object({ keys: z.array(z.object({ x: z.string().regex(/^[\w-]{43}$/) })).refine(({ length }) => length > 0) })
  .transform(({ keys }) =>
    keys.map(({ x }) => createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })),
  );

/** fal signs its webhooks with Ed25519. The published keys are the same for all its customers. */
export const falSignature = (jwksUrls: readonly string[], http: UpstreamHttp, clock: Clock): VerifySignature => {
  const keys = new PublishedKeys(http, clock, { urls: jwksUrls, headers: {} }, jwksSchema);

  return async ({ body, headers }) => {
    const requestId = headers["x-fal-webhook-request-id"];
    const userId = headers["x-fal-webhook-user-id"];
    const timestamp = headers["x-fal-webhook-timestamp"] ?? "";
    const signature = Buffer.from(headers["x-fal-webhook-signature"] ?? "", "hex");
    if (requestId === undefined || userId === undefined) {
      return err(unverifiedWebhook("There is no x-fal-webhook-request-id or no x-fal-webhook-user-id."));
    }
    if (!isRecent(timestamp, clock.now())) {
      return err(unverifiedWebhook("The x-fal-webhook-timestamp is not recent."));
    }
    const message = [requestId, userId, timestamp, createHash("sha256").update(body).digest("hex")].join("\n");
    const matched = await keys.verifyWithAny((key) => verify(null, Buffer.from(message), key, signature));
    return matched.andThen((matches) =>
      matches ? ok(undefined) : err(unverifiedWebhook("The x-fal-webhook-signature is wrong.")),
    );
  };
};
