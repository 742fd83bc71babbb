import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isVisible } from "../text.js";
import type { KeyLimits } from "./key-limits.js";

/** Identifies an API key. It is not its secret. */
export type ApiKeyId = Brand<string, "ApiKeyId">;

/** Parses an id; `undefined` if the text has another form. */
export const parseApiKeyId = (text: string): ApiKeyId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as ApiKeyId) : undefined;

/** Creates an id from a constant. Throws if it is invalid; parse input instead. */
export const apiKeyId = (text: string): ApiKeyId =>
  valueOrThrow(parseApiKeyId(text), text, "the id of an API key: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -");

/** The secret: `sk-` and 43 characters of base64url. Shown once, never stored (specification, Authentication). */
export type ApiKeySecret = Brand<string, "ApiKeySecret">;

/** A key as it is stored: only the SHA-256 of the secret. */
export type ApiKey = {
  readonly id: ApiKeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly secretSha256: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
  readonly limits: KeyLimits;
  /** Time of the last admitted request, up to an hour old; `undefined`: never used. */
  readonly lastUsedAt: Date | undefined;
  /** First characters of the secret, by which people recognize the key. */
  readonly prefix: string;
};

/** The account has never paid, so it gets no key. */
export type NoPaidOrder = { readonly kind: "no_paid_order"; readonly accountId: AccountId };

/** Creates a secret from 32 random bytes as base64url. */
export const apiKeySecret = (random32BytesAsBase64url: string): ApiKeySecret =>
  `sk-${random32BytesAsBase64url}` as ApiKeySecret;

/** Visible characters after `sk-`: enough to tell keys apart. The other 35 keep 210 random bits secret. */
const PREFIX_CHARACTERS = 8;

/** The visible prefix of a secret. */
export const prefixOf = (secret: ApiKeySecret): string => secret.slice(0, "sk-".length + PREFIX_CHARACTERS);

/** Parses a secret; `undefined` if the text has another form. */
export const parseApiKeySecret = (text: string): ApiKeySecret | undefined =>
  /^sk-[A-Za-z0-9_-]{43}$/.test(text) ? (text as ApiKeySecret) : undefined;

/** Maximum length of a key's name, in characters. */
export const KEY_NAME_CHARACTERS_MAX = 80;

/** Parses the name of a key: 1 to 80 visible characters. */
export const parseKeyName = (text: string): Result<string, InvalidRequest> => {
  const name = text.trim();
  return isVisible(name, KEY_NAME_CHARACTERS_MAX)
    ? ok(name)
    : err(invalidRequest("name", { name: "visible_characters", min: 1, max: KEY_NAME_CHARACTERS_MAX, actual: text }));
};

/** A key needs at least one paid order (specification, Authentication, 3). */
export const allowKey = (accountId: AccountId, paidOrders: number): Result<void, NoPaidOrder> =>
  paidOrders > 0 ? ok(undefined) : err({ kind: "no_paid_order", accountId });

/** Maximum number of live keys (not revoked) of an account. */
export const API_KEYS_MAX = 20;

/** The account already has `limit` live keys. */
export type TooManyApiKeys = { readonly kind: "too_many_api_keys"; readonly limit: number };

/** `liveKeys`: the account's keys that are not revoked. */
export const admitKey = (liveKeys: number): Result<void, TooManyApiKeys> =>
  liveKeys < API_KEYS_MAX ? ok(undefined) : err({ kind: "too_many_api_keys", limit: API_KEYS_MAX });
