import type { Credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import type { LedgerStore } from "../ports/stores/ledger-store.js";

/** The account's remaining credits, without reserved ones. */
export const readBalance =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "balance"> }) =>
  (owner: AccountId): Promise<Credits> =>
    ledger.balance(owner);
