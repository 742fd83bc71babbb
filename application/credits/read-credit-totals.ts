import type { CreditTotals } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import type { LedgerStore } from "../ports/stores/ledger-store.js";

/** `GET /credits`: the account's remaining, reserved and spent credits. */
export const readCreditTotals =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "totals"> }) =>
  (owner: AccountId): Promise<CreditTotals> =>
    ledger.totals(owner);
