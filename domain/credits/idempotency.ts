import { err, ok, type Result } from "neverthrow";
import { type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** A creation's id that the client chooses, unique within its account. */
export type IdempotencyKey = Brand<string, "IdempotencyKey">;

/** A key with its request: a digest or a canonical text. */
export type IdempotentRequest = { readonly key: IdempotencyKey; readonly request: string };

const HEADER = "Idempotency-Key";
/** Maximum length of an idempotency key, in characters. */
export const KEY_CHARACTERS_MAX = 255;

/** Parses the header's value: 1 to 255 visible ASCII characters, bare or in quotes. Both forms are the same key. */
export const parseIdempotencyKey = (headerValue: string): Result<IdempotencyKey, InvalidRequest> => {
  const quoted = /^"(.*)"$/.exec(headerValue)?.[1];
  const key = quoted ?? headerValue;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= KEY_CHARACTERS_MAX
    ? ok(key as IdempotencyKey)
    : err(invalidRequest(HEADER, { name: "visible_ascii", min: 1, max: KEY_CHARACTERS_MAX, actual: key }));
};

/** Creates a key from a constant. Throws if it is invalid; parse a header instead. */
export const idempotencyKey = (text: string): IdempotencyKey =>
  valueOrThrow(
    parseIdempotencyKey(text).unwrapOr(undefined),
    text,
    `an idempotency key: 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters`,
  );

/**
 * Error of a meter: the key was used for another call. `hours`: lifetime of the key of a hold; absent for keys that are
 * kept for ever.
 */
export type KeyReused = { readonly kind: "key_reused"; readonly key: IdempotencyKey; readonly hours?: number };

/** Refuses a key that is stored for another request. `keptHours`: lifetime of keys. */
export const checkSameRequest = (
  stored: string,
  { request }: IdempotentRequest,
  keptHours: number,
): Result<void, InvalidRequest> =>
  stored === request ? ok(undefined) : err(invalidRequest(HEADER, { name: "key_reused", hours: keptHours }));

/**
 * The refusal of a key whose panorama its owner has deleted. Repeating the first answer, as Stripe does, would promise
 * a task that the client cannot find. So the answer says what to do instead, with a status that the specification has
 * for a creation.
 */
export const deletedReplay = (taskId: string): InvalidRequest =>
  invalidRequest(HEADER, { name: "key_of_deleted", taskId });
