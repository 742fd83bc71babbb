import type { EntryPlace } from "../domain/credits/ledger-page.js";
import type { AccountId } from "../domain/ids.js";
import { pageOf } from "./page-of.js";
import type { LedgerLine, LedgerStore } from "./ports/stores/ledger-store.js";

/** An entry with the balance after it, in credits. `apiKeyId`: the key that created its task. */
export type EntryLine = Pick<LedgerLine, "entry" | "apiKeyId"> & { readonly balanceAfter: number };

/** `next`: cursor of the next page; `undefined` on the last one. */
export type EntryPage = { readonly entries: readonly EntryLine[]; readonly next: EntryPlace | undefined };

/**
 * `GET /credits/entries`: entries of the account's ledger, newest first, each with the balance after it. The newest
 * `balanceAfter` is the account's balance. Entries and their balances never change.
 */
export async function listEntries(
  ledger: LedgerStore,
  owner: AccountId,
  limit: number,
  before?: EntryPlace,
): Promise<EntryPage> {
  const found = await ledger.list(owner, limit + 1, before?.entry);
  let balance = before?.balance ?? found[0]?.balance ?? 0;
  const lines = found.map(({ cursor, entry, apiKeyId }) => {
    const balanceAfter = balance;
    balance -= entry.credits;
    return { line: { entry, apiKeyId, balanceAfter }, older: { entry: cursor, balance } };
  });
  const { items, last } = pageOf(lines, limit);
  return { entries: items.map(({ line }) => line), next: last?.older };
}
