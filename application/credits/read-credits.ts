import type { AccountId } from "../../domain/account.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerStore } from "../ports/ledger-store.js";

/** What `readCredits` returns. */
export type ReadCredits = ReturnType<typeof readCredits>;

/** `GET /credits`: the account's remaining credits, without reserved ones. */
export const readCredits =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "balance"> }) =>
  (owner: AccountId): Promise<Credits> =>
    ledger.balance(owner);
