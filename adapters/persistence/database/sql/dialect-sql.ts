import type { Dialect } from "./database.js";

/** Ends a select: skips rows that another transaction has locked. SQLite has only one writer at a time. */
export const skipLocked = (dialect: Dialect): string => (dialect === "postgresql" ? "for update skip locked" : "");

/**
 * A condition with a select of few rows. For `in (select …)` PostgreSQL reads the whole table when it does not know
 * that they are few; for an array it uses the index.
 */
export const isIn = (column: string, select: string, dialect: Dialect): string =>
  dialect === "postgresql" ? `${column} = any(array(${select}))` : `${column} in (${select})`;

/** A condition with one parameter, a `listOf` values: so the statement is prepared once for lists of any length. */
export const isAmong = (column: string, dialect: Dialect): string =>
  dialect === "postgresql" ? `${column} = any(?)` : `${column} in (select value from json_each(?))`;

export const listOf = (values: readonly unknown[], dialect: Dialect): unknown =>
  dialect === "postgresql" ? values : JSON.stringify(values);
