import type { EntryPlace } from "../../domain/credits/ledger.js";
import type { AccountId } from "../../domain/ids.js";
import { type EntryPage, readEntryPage } from "../entry-page.js";
import type { LedgerStore } from "../ports/stores/ledger-store.js";

/**
 * `GET /credits/entries`: entries of the account's ledger, newest first. The balance after the newest one is that of
 * the account. An entry never gets another place or another balance.
 */
export const listEntries =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "list"> }) =>
  (owner: AccountId, limit: number, before?: EntryPlace): Promise<EntryPage> =>
    readEntryPage(ledger, owner, limit, before);
