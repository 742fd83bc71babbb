import type { Dialect, Sql } from "./database.js";

/**
 * Two transactions that lock the same name wait for each other; no row is locked, so nobody else waits. SQLite has one
 * writer at a time anyway.
 */
export async function lockName(sql: Sql, dialect: Dialect, name: string): Promise<void> {
  if (dialect === "postgresql") await sql("select pg_advisory_xact_lock(hashtextextended(?, 0))", [name]);
}
