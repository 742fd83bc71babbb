import { err, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";

export type RevokeApiKey = ReturnType<typeof revokeApiKey>;

/** The owner revokes a key: from now on it is refused. Somebody else's key is not found, as an unknown one is. */
export const revokeApiKey =
  ({ accounts, clock }: { readonly accounts: AccountStore; readonly clock: Clock }) =>
  async (owner: AccountId, id: ApiKeyId): Promise<Result<void, NotFound>> => {
    const keys = await accounts.listKeys(owner);
    return keys.some((key) => key.id === id)
      ? accounts.revokeKey(id, clock.now())
      : err(notFound(`There is no key ${id} on this account.`));
  };
