import { err, type Result } from "neverthrow";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";

type Ports = { readonly keys: Pick<ApiKeyStore, "listLive" | "revoke">; readonly clock: Pick<Clock, "now"> };

/**
 * Revokes a key of the account. A key of another account, and one that is revoked, give the same error as an unknown
 * one.
 */
export const revokeApiKey =
  ({ keys, clock }: Ports) =>
  async (owner: AccountId, id: ApiKeyId): Promise<Result<void, NotFound>> => {
    const ownKeys = await keys.listLive(owner);
    return ownKeys.some((key) => key.id === id)
      ? keys.revoke(id, clock.now())
      : err(notFound(`There is no key ${id} on this account.`));
  };
