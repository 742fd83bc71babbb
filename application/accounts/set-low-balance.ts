import type { Result } from "neverthrow";
import type { Credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import type { NotFound } from "../errors.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";

/** Sets the balance below which the owner is told (domain/credits/standing.ts); `undefined`: never. */
export const setLowBalance =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "setLowBalance"> }) =>
  (id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>> =>
    accounts.setLowBalance(id, threshold);
