import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";
import type { ApiKeyStore } from "../ports/api-key-store.js";

type Ports = { readonly accounts: Pick<AccountStore, "exists">; readonly keys: Pick<ApiKeyStore, "list"> };

export type ListApiKeys = ReturnType<typeof listApiKeys>;

/** For the operator: all keys of the account, oldest first, including revoked ones. */
export const listApiKeys =
  ({ accounts, keys }: Ports) =>
  async (id: AccountId): Promise<Result<readonly ApiKey[], NotFound>> =>
    (await accounts.exists(id)) ? ok(await keys.list(id)) : err(notFound(`There is no account ${id}.`));
