import { type ApiKey, type ApiKeySecret, prefixOf } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import type { AccountId } from "../../domain/ids.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";

/** A new key and its secret. The secret is shown once: the store keeps only its digest. */
export type CreatedApiKey = { readonly key: ApiKey; readonly secret: ApiKeySecret };

/** What a new key needs. */
export type NewApiKeyPorts = {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "apiKeyId" | "apiKeySecret">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** Generates a key and its secret; stores nothing. */
export const newApiKey = (
  { clock, ids, secrets }: NewApiKeyPorts,
  accountId: AccountId,
  name: string,
  limits: KeyLimits,
): CreatedApiKey => {
  const secret = ids.apiKeySecret();
  const secretSha256 = secrets.sha256(secret);
  const created = { id: ids.apiKeyId(), accountId, name, secretSha256, createdAt: clock.now() };
  const key = { ...created, revokedAt: undefined, limits, lastUsedAt: undefined, prefix: prefixOf(secret) };
  return { key, secret };
};
