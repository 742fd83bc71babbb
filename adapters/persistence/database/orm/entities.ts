import { type EntitySchema, LockMode, MikroORM } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/knex";
import { ok, type Result } from "neverthrow";
import { shortTurn } from "../../../system/short-turn.js";
import type { Database, Dialect, Row, Sql } from "../sql/database.js";
import { PostgresEntityDriver, SqliteEntityDriver, type StatementContext } from "./connections.js";
import { ENTITY_TABLES } from "./entity-tables.js";

const DRIVERS = { sqlite: SqliteEntityDriver, postgresql: PostgresEntityDriver };

/** One for all databases of a dialect, because it knows the tables and no connection. */
const orms = new Map<Dialect, MikroORM>();

/** Describes the entities to the ORM, which takes longer than a request may: whoever makes stores does it first. */
export function prepareEntities(dialect: Dialect): MikroORM {
  const known = orms.get(dialect);
  if (known !== undefined) return known;
  const orm = MikroORM.initSync({
    driver: DRIVERS[dialect],
    entities: ENTITY_TABLES,
    dbName: "that of each statement",
    discovery: { disableDynamicFileAccess: true },
    forceUtcTimezone: true,
  });
  orms.set(dialect, orm);
  return orm;
}

/** An entity manager for one use. It would not read a row a second time. */
function managerOn(dialect: Dialect, sql: Sql): SqlEntityManager {
  const manager = prepareEntities(dialect).em.fork() as SqlEntityManager;
  const context: StatementContext = { sql };
  manager.setTransactionContext(context);
  return manager;
}

/** Reads and writes of one statement each. A change of several statements takes `inUnitOfWork`. */
export type Entities = Pick<
  SqlEntityManager,
  "find" | "findOne" | "findOneOrFail" | "count" | "insert" | "upsert" | "nativeUpdate" | "nativeDelete"
>;

/** Entities for one use, outside of transactions. */
export const entitiesOf = ({ dialect, sql }: Pick<Database, "dialect" | "sql">): Entities =>
  managerOn(dialect, dialect === "sqlite" ? inTurn(sql) : sql);

/** SQLite answers at once: others must have their turn between two statements of a page. */
function inTurn(sql: Sql): Sql {
  return async (statement, parameters) => {
    await shortTurn();
    return sql(statement, parameters);
  };
}

/** A store whose tables are read and changed as entities. */
export abstract class EntityStore {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Entities for one use. */
  protected get entities(): Entities {
    return entitiesOf(this.database);
  }
}

/**
 * `Database.transaction` with an entity manager: what `work` has changed in its entities is written if it returns Ok.
 * `sql` runs prepared statements in the same transaction. Both are only used while `work` runs.
 */
export const inUnitOfWork = <T, E>(
  database: Pick<Database, "dialect" | "transaction">,
  work: (manager: SqlEntityManager, sql: Sql) => Promise<Result<T, E>>,
): Promise<Result<T, E>> =>
  database.transaction(async (sql) => {
    const manager = managerOn(database.dialect, sql);
    const result = await work(manager, sql);
    if (result.isOk()) await manager.flush();
    return result;
  });

/** `inUnitOfWork` for what nothing refuses. */
export async function changeEntities<T>(
  database: Pick<Database, "dialect" | "transaction">,
  work: (manager: SqlEntityManager, sql: Sql) => Promise<T>,
): Promise<T> {
  const changed = await inUnitOfWork<T, never>(database, async (manager, sql) => ok(await work(manager, sql)));
  return changed._unsafeUnwrap();
}

/** An entity as a row of a prepared statement, for the functions that read the rows of both. */
export function rowOf<Entity extends object>(table: EntitySchema<Entity>, entity: Entity): Row {
  const [orm] = orms.values();
  const properties = orm?.getMetadata(table).props ?? [];
  return Object.fromEntries(properties.map(({ name, fieldNames }) => [fieldNames[0], entity[name]]));
}

/** Locks the rows that it reads, and skips rows that are locked already. SQLite has one writer at a time. */
export const lockFree = (dialect: Dialect) =>
  dialect === "postgresql" ? LockMode.PESSIMISTIC_PARTIAL_WRITE : LockMode.NONE;
