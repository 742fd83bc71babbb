import { err, ok, type Result } from "neverthrow";
import type { ApiKey, ApiKeyId } from "../../domain/accounts/api-key.js";
import type { Spending } from "../../domain/credits/budget.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly keys: Pick<ApiKeyStore, "list" | "spending">;
  readonly clock: Pick<Clock, "now">;
};

/** A key, and what it has spent in the current day and month (domain/credits/budget.ts). */
export type KeyWithSpending = { readonly key: ApiKey; readonly spending: Spending };

const NOTHING: Spending = { today: 0, thisMonth: 0 };

/** The keys with what they have spent of their budgets. */
export const withSpending = (
  keys: readonly ApiKey[],
  spending: ReadonlyMap<ApiKeyId, Spending>,
): readonly KeyWithSpending[] => keys.map((key) => ({ key, spending: spending.get(key.id) ?? NOTHING }));

/** All keys of the account, oldest first, including revoked ones. */
export const listApiKeys =
  ({ accounts, keys, clock }: Ports) =>
  async (id: AccountId): Promise<Result<readonly KeyWithSpending[], NotFound>> =>
    (await accounts.exists(id))
      ? ok(withSpending(await keys.list(id), await keys.spending(id, clock.now())))
      : err(notFound(`There is no account ${id}.`));
