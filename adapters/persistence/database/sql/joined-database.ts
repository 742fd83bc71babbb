import type { Database } from "./database.js";

/** The part of a database that the stores of a meter use. */
export type JoinedDatabase = Pick<Database, "dialect" | "sql" | "transaction">;

/** The last part on each connection. */
const lastParts = new WeakMap<object, Promise<unknown>>();

/**
 * A database whose transactions are parts of one that its caller has opened on `connection`, and commits or rolls back.
 * Each part is a savepoint, which PostgreSQL refuses where no transaction is open. A part that fails leaves the rest as
 * it was. Parts run one after the other, because no lock keeps those of one transaction apart.
 */
export function joinedDatabase(
  connection: object,
  { dialect, sql }: Pick<Database, "dialect" | "sql">,
): JoinedDatabase {
  const inTurn = <T>(part: () => Promise<T>): Promise<T> => {
    const running = (lastParts.get(connection) ?? Promise.resolve()).then(part);
    lastParts.set(
      connection,
      running.catch(() => {}),
    );
    return running;
  };
  return {
    dialect,
    sql: (statement, parameters) => inTurn(() => sql(statement, parameters)),
    transaction: (work) =>
      inTurn(async () => {
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
      }),
  };
}
