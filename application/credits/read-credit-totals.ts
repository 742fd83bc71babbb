import type { AccountId } from "../../domain/account.js";
import type { CreditTotals } from "../../domain/credits.js";
import type { LedgerStore } from "../ports/ledger-store.js";

/** What `readCreditTotals` returns. */
export type ReadCreditTotals = ReturnType<typeof readCreditTotals>;

/** `GET /credits`: the account's remaining, reserved and spent credits. */
export const readCreditTotals =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "totals"> }) =>
  (owner: AccountId): Promise<CreditTotals> =>
    ledger.totals(owner);
