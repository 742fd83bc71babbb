import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly keys: Pick<ApiKeyStore, "listLive" | "revoke">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: revokes all keys of an account. Resolves to their number. */
export const revokeKeys =
  ({ accounts, keys, clock }: Ports) =>
  async (account: AccountId): Promise<Result<number, NotFound>> => {
    if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const live = await keys.listLive(account);
    for (const { id } of live) await keys.revoke(id, clock.now());
    return ok(live.length);
  };
