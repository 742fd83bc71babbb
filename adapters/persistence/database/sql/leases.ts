/*
 * Columns of work that workers lease: `due_at`, `leased_until`, `fence`. While nobody else has changed the due time of
 * a leased row, it is the end of the lease. So another due time, or none, says that the row was wanted earlier or
 * withdrawn, and whoever ends the lease leaves that as it is.
 */

/** A condition: the row has no lease. Its parameter is the present time. */
export const IS_FREE = "(leased_until is null or leased_until <= ?)";

/** Assignments. Both parameters are the end of the lease: if it is not given back, the row is due then. */
export const LEASE = "due_at = ?, leased_until = ?, fence = fence + 1";

/**
 * Assignments: the row is wanted now. Each parameter is the present time. A running lease goes on; one that has ended
 * is removed, so that its late holder does not take the due time for its own.
 */
export const WANT_NOW =
  "due_at = cast(? as timestamptz), leased_until = case when leased_until > ? then leased_until end";

/** A condition of a leased row: somebody else has changed its due time. */
export const isWanted = (table: string): string => `${table}.due_at is distinct from ${table}.leased_until`;

/** Sets when a leased row is due, unless somebody else has decided that. Its parameter is the due time. */
export const dueUnlessWanted = (table: string): string =>
  `due_at = case when ${isWanted(table)} then ${table}.due_at else cast(? as timestamptz) end`;
