import type { EntryPlace } from "../domain/credits/ledger-page.js";
import type { AccountId, TaskId } from "../domain/ids.js";
import type { LedgerLine, LedgerStore } from "./ports/stores/ledger-store.js";

/** Cursors of the pages before and after a page of tasks, which are ordered by their ids. */
export type NeighbourCursors = {
  /** `before` for the page with older tasks; `undefined` if there are none. */
  readonly next: TaskId | undefined;
  /** `after` for the page with newer tasks; `undefined` if there are none. */
  readonly newer: TaskId | undefined;
};

/** Start of a page of tasks; without both, the first page. */
export type PageStart = { readonly before?: TaskId | undefined; readonly after?: TaskId | undefined };

/** Splits up to `limit + 1` items into a page and `last`, the cursor of the next page; `undefined` on the last page. */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly last: Item | undefined } => {
  const items = found.slice(0, limit);
  return { items, last: found.length > limit ? items.at(-1) : undefined };
};

/**
 * Cursors of the previous and the next page. `beyond`: cursor of this page. `first`: read order. `start`: first task
 * that was read. `last`: its last task if there are more.
 */
export const neighbourCursors = (
  first: "newest" | "oldest",
  beyond: TaskId | undefined,
  start: TaskId | undefined,
  last: TaskId | undefined,
): NeighbourCursors =>
  first === "newest" ? { next: last, newer: beyond && start } : { next: beyond && start, newer: last };

/** Read order and cursor, from `before` and `after`. */
export const directionOf = (
  before: TaskId | undefined,
  after: TaskId | undefined,
  sort: "newest" | "oldest",
): readonly ["newest" | "oldest", TaskId | undefined] => {
  if (after !== undefined) return ["oldest", after];
  return before === undefined ? [sort, undefined] : ["newest", before];
};

/** An entry with the balance after it, in credits. `apiKeyId`: the key that created its task. */
export type EntryLine = Pick<LedgerLine, "entry" | "apiKeyId"> & { readonly balanceAfter: number };

/** `next`: cursor of the next page; `undefined` on the last one. */
export type EntryPage = { readonly entries: readonly EntryLine[]; readonly next: EntryPlace | undefined };

/** Reads entries of the account, newest first. Computes each balance from the next newer entry. */
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
