import type { TaskId } from "../domain/ids.js";

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
export function pageOf<Item>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly last: Item | undefined } {
  const items = found.slice(0, limit);
  return { items, last: found.length > limit ? items.at(-1) : undefined };
}

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
export function directionOf(
  before: TaskId | undefined,
  after: TaskId | undefined,
  sort: "newest" | "oldest",
): readonly ["newest" | "oldest", TaskId | undefined] {
  if (after !== undefined) return ["oldest", after];
  return before === undefined ? [sort, undefined] : ["newest", before];
}
