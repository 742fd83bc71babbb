import type { TaskId } from "../domain/ids.js";

/** The pages beside a page of tasks, which are ordered by their ids. */
export type PagesBeside = {
  /** `before` for the page with older tasks; `undefined` if there are none. */
  readonly next: TaskId | undefined;
  /** `after` for the page with newer tasks; `undefined` if there are none. */
  readonly newer: TaskId | undefined;
};

/** Where a page of tasks begins: without both, at the first ones. */
export type PageStart = { readonly before?: TaskId | undefined; readonly after?: TaskId | undefined };

/**
 * A page of at most `limit` items, given up to one item more, which shows that there is another page. `last` is the
 * item after which that begins; `undefined` on the last page.
 */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly last: Item | undefined } => {
  const items = found.slice(0, limit);
  return { items, last: found.length > limit ? items.at(-1) : undefined };
};

/**
 * The pages beside one that was read beyond the task `beyond`, `first` the newest or the oldest tasks. `start` is the
 * first task that was read, and `last` is the one after which there are more.
 */
export const pagesBeside = (
  first: "newest" | "oldest",
  beyond: TaskId | undefined,
  start: TaskId | undefined,
  last: TaskId | undefined,
): PagesBeside =>
  first === "newest" ? { next: last, newer: beyond && start } : { next: beyond && start, newer: last };

/** Which end of a list is read first, and beyond which task. */
export const directionOf = (
  before: TaskId | undefined,
  after: TaskId | undefined,
  sort: "newest" | "oldest",
): readonly ["newest" | "oldest", TaskId | undefined] => {
  if (after !== undefined) return ["oldest", after];
  return before === undefined ? [sort, undefined] : ["newest", before];
};
