import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { type ApiKey, type ApiKeySecret, allowKey, type NoPaidOrder } from "../../domain/api-key.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";

/** The secret is shown this once: only its digest is kept. */
export type CreatedApiKey = { readonly key: ApiKey; readonly secret: ApiKeySecret };

type Makers = { readonly clock: Clock; readonly ids: Ids; readonly secrets: Secrets };

export type CreateApiKey = ReturnType<typeof createApiKey>;

/** Creates a key; refused without a paid order (specification, Authentication, 3). */
export const createApiKey =
  (ports: Makers & { readonly accounts: AccountStore }) =>
  async (accountId: AccountId, name: string): Promise<Result<CreatedApiKey, NoPaidOrder>> => {
    const allowed = allowKey(accountId, await ports.accounts.countPaidOrders(accountId));
    if (allowed.isErr()) return err(allowed.error);
    const made = newApiKey(ports, accountId, name);
    await ports.accounts.insertKey(made.key);
    return ok(made);
  };

export const newApiKey = ({ clock, ids, secrets }: Makers, accountId: AccountId, name: string): CreatedApiKey => {
  const secret = ids.apiKeySecret();
  const secretSha256 = secrets.sha256(secret);
  const key = { id: ids.apiKeyId(), accountId, name, secretSha256, createdAt: clock.now(), revokedAt: undefined };
  return { key, secret };
};
