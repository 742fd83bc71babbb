/**
 * A page of at most `limit` items, given up to one item more, which shows that there is another page. `last` is the item
 * after which that begins; `undefined` on the last page.
 */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
): { readonly items: readonly Item[]; readonly last: Item | undefined } => {
  const items = found.slice(0, limit);
  return { items, last: found.length > limit ? items.at(-1) : undefined };
};
