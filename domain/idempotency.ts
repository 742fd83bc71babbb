import { err, ok, type Result } from "neverthrow";
import type { Brand } from "./brand.js";
import { type InvalidRequest, invalidRequest, shown } from "./invalid-request.js";

/** The client's own name for one creation, unique within its account, kept for 24 hours. */
export type IdempotencyKey = Brand<string, "IdempotencyKey">;

export const IDEMPOTENCY_KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

/** A key together with the SHA-256 of the request it stands for. */
export type IdempotentRequest = { readonly key: IdempotencyKey; readonly requestSha256: string };

export const KEY_CHARACTERS_MAX = 255;

/** The header's value: 1 to 255 visible ASCII characters, bare or in quotes; both forms are the same key. */
export const parseIdempotencyKey = (headerValue: string): Result<IdempotencyKey, InvalidRequest> => {
  const quoted = /^"(.*)"$/.exec(headerValue)?.[1];
  const key = quoted ?? headerValue;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= KEY_CHARACTERS_MAX
    ? ok(key as IdempotencyKey)
    : err(
        invalidRequest(
          `Idempotency-Key: must have 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters, but is ${shown(key)}.`,
        ),
      );
};

/** A key stands for one request only. */
export const sameRequest = (stored: string, { requestSha256 }: IdempotentRequest): Result<void, InvalidRequest> =>
  stored === requestSha256
    ? ok(undefined)
    : err(
        invalidRequest(
          "Idempotency-Key: was used with another request body within the last 24 hours; use a new key for a new request.",
        ),
      );
