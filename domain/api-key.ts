import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "./account.js";
import type { Brand } from "./brand.js";
import { type InvalidRequest, invalidRequest, shown } from "./invalid-request.js";

export type ApiKeyId = Brand<string, "ApiKeyId">;

/** The secret itself, `sk-` and 43 characters of base64url: shown once, never stored (specification, Authentication). */
export type ApiKeySecret = Brand<string, "ApiKeySecret">;

/** What is kept of a key: of the secret only its SHA-256. */
export type ApiKey = {
  readonly id: ApiKeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly secretSha256: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
};

export type NoPaidOrder = { readonly kind: "no_paid_order"; readonly accountId: AccountId };

/** From 32 random bytes as base64url. */
export const apiKeySecret = (random32BytesAsBase64url: string): ApiKeySecret =>
  `sk-${random32BytesAsBase64url}` as ApiKeySecret;

/** A text from a request, if it can be a key at all: what cannot is not looked up. */
export const parseApiKeySecret = (text: string): ApiKeySecret | undefined =>
  /^sk-[A-Za-z0-9_-]{43}$/.test(text) ? (text as ApiKeySecret) : undefined;

export const KEY_NAME_CHARACTERS_MAX = 80;

/** A key's name is for people: 1 to 80 visible characters. */
export const parseKeyName = (text: string): Result<string, InvalidRequest> => {
  const name = text.trim();
  return name !== "" && [...name].length <= KEY_NAME_CHARACTERS_MAX && !/\p{Cc}|\p{Cs}/u.test(name)
    ? ok(name)
    : err(invalidRequest(`name: must have 1 to ${KEY_NAME_CHARACTERS_MAX} visible characters, but is ${shown(text)}.`));
};

/** A key needs at least one paid order (specification, Authentication, 3). */
export const allowKey = (accountId: AccountId, paidOrders: number): Result<void, NoPaidOrder> =>
  paidOrders > 0 ? ok(undefined) : err({ kind: "no_paid_order", accountId });
