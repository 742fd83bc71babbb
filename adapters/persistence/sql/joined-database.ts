import type { Database } from "./database.js";

/** What stores of a meter use of a database. */
export type JoinedDatabase = Pick<Database, "dialect" | "sql" | "transaction">;

/**
 * A database whose transactions are parts of one that its caller has opened, and commits or rolls back. Each part is a
 * savepoint, which PostgreSQL refuses where no transaction is open. A part that fails leaves the rest as it was.
 */
export const joinedDatabase = ({ dialect, sql }: Pick<Database, "dialect" | "sql">): JoinedDatabase => ({
  dialect,
  sql,
  async transaction(work) {
    await sql("savepoint panorama");
    try {
      const result = await work(sql);
      if (result.isErr()) await sql("rollback to savepoint panorama");
      await sql("release savepoint panorama");
      return result;
    } catch (error) {
      await sql("rollback to savepoint panorama").catch(() => {}); // a lost connection has rolled everything back
      throw error;
    }
  },
});
