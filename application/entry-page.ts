import type { EntryPlace } from "../domain/credits/ledger.js";
import type { AccountId } from "../domain/ids.js";
import { pageOf } from "./page-of.js";
import type { LedgerLine, LedgerStore } from "./ports/stores/ledger-store.js";

/** An entry with the balance after it, in credits. `apiKeyId`: the key that has created its task. */
export type EntryLine = Pick<LedgerLine, "entry" | "apiKeyId"> & { readonly balanceAfter: number };

/** `next`: where the next page begins; `undefined` on the last one. */
export type EntryPage = { readonly entries: readonly EntryLine[]; readonly next: EntryPlace | undefined };

/** Reads entries of the account, newest first. The balance after each one follows from that after the newer one. */
export const readEntryPage = async (
  ledger: Pick<LedgerStore, "list">,
  owner: AccountId,
  limit: number,
  before: EntryPlace | undefined,
): Promise<EntryPage> => {
  const found = await ledger.list(owner, limit + 1, before?.entry);
  let balance = before?.balance ?? found[0]?.balance ?? 0;
  const lines = found.map(({ cursor, entry, apiKeyId }) => {
    const balanceAfter = balance;
    balance -= entry.credits;
    return { line: { entry, apiKeyId, balanceAfter }, older: { entry: cursor, balance } };
  });
  const { items, last } = pageOf(lines, limit);
  return { entries: items.map(({ line }) => line), next: last?.older };
};
