import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { AccountId } from "../../domain/ids.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";

/** Credits of panoramas that a key has made in a month, without those that were refunded. */
export type KeySpending = { readonly apiKeyId: ApiKeyId; readonly credits: number };

/** What each key of the account, revoked ones included, has spent in the month (UTC) of `at`, the largest first. */
export const readKeySpending =
  ({ keys }: { readonly keys: Pick<ApiKeyStore, "spending"> }) =>
  async (owner: AccountId, at: Date): Promise<readonly KeySpending[]> =>
    [...(await keys.spending(owner, at))]
      .map(([apiKeyId, { thisMonth }]) => ({ apiKeyId, credits: thisMonth }))
      .sort((a, b) => b.credits - a.credits);
