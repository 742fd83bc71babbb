import { err, ok, type Result } from "neverthrow";
import { type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

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
  valueOrThrow(
    parseIdempotencyKey(text).unwrapOr(undefined),
    text,
    `an idempotency key: 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters`,
  );

/** The key belongs to another call. Meters refuse it, and keep keys of holds for `hours`, others for ever. */
export type KeyReused = { readonly kind: "key_reused"; readonly key: IdempotencyKey; readonly hours?: number };

/** Refuses a key that is already stored for another request. `keptHours`: how long keys are stored. */
export const sameRequest = (
  stored: string,
  { requestSha256 }: IdempotentRequest,
  keptHours: number,
): Result<void, InvalidRequest> =>
  stored === requestSha256 ? ok(undefined) : err(invalidRequest(HEADER, { name: "key_reused", hours: keptHours }));

/**
 * The refusal of a key whose panorama its owner has deleted. Stripe repeats its first answer also for a deleted object;
 * ours would promise a panorama in processing, and the client would poll a task that is not found. So the answer says
 * what to do instead, with a status that the specification has for a creation.
 */
export const deletedReplay = (taskId: string): InvalidRequest =>
  invalidRequest(HEADER, { name: "key_of_deleted", taskId });
