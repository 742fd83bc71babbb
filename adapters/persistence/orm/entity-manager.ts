import { MikroORM } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/knex";
import type { Result } from "neverthrow";
import { tables } from "../schema/schema.js";
import type { Database, Dialect, Sql } from "../sql/database.js";
import { PostgresEntityDriver, SqliteEntityDriver, type StatementContext } from "./connections.js";

const ormFor = (driver: typeof SqliteEntityDriver | typeof PostgresEntityDriver) =>
  MikroORM.initSync({
    driver,
    entities: tables,
    dbName: "unused",
    discovery: { disableDynamicFileAccess: true },
    forceUtcTimezone: true,
  });

const orms = { sqlite: ormFor(SqliteEntityDriver), postgresql: ormFor(PostgresEntityDriver) };

const fork = (dialect: Dialect, sql: Sql): SqlEntityManager => {
  const em = orms[dialect].em.fork();
  const context: StatementContext = { sql };
  em.setTransactionContext(context);
  return em;
};

export type EntityReader = Pick<
  SqlEntityManager,
  "find" | "findOne" | "count" | "insert" | "nativeUpdate" | "nativeDelete"
>;

export const entityManager = ({ dialect, sql }: Pick<Database, "dialect" | "sql">): EntityReader => fork(dialect, sql);

export const inUnitOfWork = <T, E>(
  database: Pick<Database, "dialect" | "transaction">,
  work: (em: SqlEntityManager, sql: Sql) => Promise<Result<T, E>>,
): Promise<Result<T, E>> =>
  database.transaction(async (sql) => {
    const em = fork(database.dialect, sql);
    const result = await work(em, sql);
    if (result.isOk()) await em.flush();
    return result;
  });
