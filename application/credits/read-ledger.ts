import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { LedgerEntry } from "../../domain/credits/ledger.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { LedgerStore } from "../ports/stores/ledger-store.js";

type Ports = { readonly accounts: Pick<AccountStore, "exists">; readonly ledger: Pick<LedgerStore, "entries"> };

/** For the operator: all ledger entries of the account, oldest first. */
export const readLedger =
  ({ accounts, ledger }: Ports) =>
  async (id: AccountId): Promise<Result<readonly LedgerEntry[], NotFound>> =>
    (await accounts.exists(id)) ? ok(await ledger.entries(id)) : err(notFound(`There is no account ${id}.`));
