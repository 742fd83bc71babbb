import { err, ok, type Result } from "neverthrow";
import { type Brand, made } from "./brand.js";
import { type InvalidRequest, invalidRequest } from "./invalid-request.js";

/** The client's own name for one creation, unique within its account. */
export type IdempotencyKey = Brand<string, "IdempotencyKey">;

/** A key with the SHA-256 of the request for which it was sent. */
export type IdempotentRequest = { readonly key: IdempotencyKey; readonly requestSha256: string };

const HEADER = "Idempotency-Key";
/** The longest idempotency key, in characters. */
export const KEY_CHARACTERS_MAX = 255;

/** Parses the header's value: 1 to 255 visible ASCII characters, bare or in quotes. Both forms are the same key. */
export const parseIdempotencyKey = (headerValue: string): Result<IdempotencyKey, InvalidRequest> => {
  const quoted = /^"(.*)"$/.exec(headerValue)?.[1];
  const key = quoted ?? headerValue;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= KEY_CHARACTERS_MAX
    ? ok(key as IdempotencyKey)
    : err(invalidRequest(HEADER, { name: "visible_ascii", min: 1, max: KEY_CHARACTERS_MAX, actual: key }));
};

/** Makes a key from a constant. Throws for text that cannot be one: a header is parsed. */
export const idempotencyKey = (text: string): IdempotencyKey =>
  made(
    parseIdempotencyKey(text).unwrapOr(undefined),
    text,
    `an idempotency key: 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters`,
  );

/** Refuses a key that is already stored for another request. `keptHours`: how long keys are stored. */
export const sameRequest = (
  stored: string,
  { requestSha256 }: IdempotentRequest,
  keptHours: number,
): Result<void, InvalidRequest> =>
  stored === requestSha256 ? ok(undefined) : err(invalidRequest(HEADER, { name: "key_reused", hours: keptHours }));
