import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { Credits } from "../../domain/credits.js";
import type { NotFound } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";

/** What `setLowBalance` returns. */
export type SetLowBalance = ReturnType<typeof setLowBalance>;

/** Sets the balance below which the owner is told (domain/low-balance.ts); `undefined`: never. */
export const setLowBalance =
  ({ accounts }: { readonly accounts: Pick<AccountStore, "setLowBalance"> }) =>
  (id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>> =>
    accounts.setLowBalance(id, threshold);
