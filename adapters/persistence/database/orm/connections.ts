import { type Configuration, Utils } from "@mikro-orm/core";
import { AbstractSqlConnection, AbstractSqlDriver, type Knex, knex } from "@mikro-orm/knex";
import { PostgreSqlPlatform } from "@mikro-orm/postgresql";
import type { Row, Sql } from "../sql/database.js";
import { SqlitePlatform } from "./sqlite-platform.js";

/** The transaction context of an entity manager: where its statements run. */
export type StatementContext = { readonly sql: Sql };

/**
 * Runs the ORM's statements where the prepared ones run: on the connections of this adapter, and in its transactions.
 * It has no connection of its own, and Knex below it only writes the text of statements.
 */
abstract class SharedConnection extends AbstractSqlConnection {
  override getDefaultClientUrl(): string {
    return "";
  }

  override begin(): never {
    throw new Error("The ORM begins no transaction. Use inUnitOfWork, which joins Database.transaction.");
  }

  /** Values are bound, so that a statement is prepared once. */
  override async execute<T>(
    query: string | Knex.QueryBuilder | Knex.Raw,
    parameters: unknown[] = [],
    method: "all" | "get" | "run" = "all",
    context?: unknown,
  ): Promise<T> {
    const { sql: text, bindings } = typeof query === "string" ? { sql: query, bindings: parameters } : query.toSQL();
    if (bindings.some((value) => Utils.isRawSql(value))) {
      throw new Error(`raw() cannot be a value, because values are bound: ${text}`);
    }
    const rows = await sqlOf(context)(method === "run" ? returningRows(text) : text, bindings);
    return this.transformRawResult(rows, method);
  }

  protected override transformRawResult<T>(rows: readonly Row[], method: "all" | "get" | "run"): T {
    if (method === "all") return rows as T;
    const [row] = rows;
    return (method === "get" ? row : { affectedRows: rows.length, insertId: row?.id, row, rows }) as T;
  }
}

function sqlOf(context: unknown): Sql {
  const { sql } = (context ?? {}) as Partial<StatementContext>;
  if (sql === undefined) throw new Error("Statements need an entity manager of entitiesOf or inUnitOfWork.");
  return sql;
}

/** The ORM counts what an update or a delete has changed, and `Sql` only returns rows. */
const returningRows = (text: string): string =>
  /^(update|delete) /.test(text) && !text.includes(" returning ") ? `${text} returning 1 as changed` : text;

export class SqliteEntityConnection extends SharedConnection {
  override createKnex(): void {
    this.client = knex({ client: "sqlite3", useNullAsDefault: true });
  }
}

class PostgresConnection extends SharedConnection {
  override createKnex(): void {
    this.client = knex({ client: "pg" });
  }
}

/** Errors stay as they are: callers know `StoreBusy`, `StoreUnreachable` and the codes of PostgreSQL. */
function rethrown(error: Error): never {
  throw error;
}

export class SqliteEntityDriver extends AbstractSqlDriver<SqliteEntityConnection> {
  constructor(config: Configuration) {
    super(config, new SqlitePlatform(), SqliteEntityConnection, ["knex"]);
  }

  override convertException = rethrown;
}

export class PostgresEntityDriver extends AbstractSqlDriver<PostgresConnection> {
  constructor(config: Configuration) {
    super(config, new PostgreSqlPlatform(), PostgresConnection, ["knex", "pg"]);
  }

  override convertException = rethrown;
}
