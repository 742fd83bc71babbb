import { createHash } from "node:crypto";
import { ok, type Result } from "neverthrow";
import { StoreBusy, StoreFull, StoreUnreachable } from "../../../../application/ports/stores/store-errors.js";
import type { PoolClient, PostgresInstallation } from "../schema/installation.js";
import { MIGRATION_TABLE, pendingSteps } from "../schema/migration-steps.js";
import type { Step } from "../schema/step.js";
import { namesInSchema, type TableNames } from "../schema/table-names.js";
import type { Row } from "../sql/columns.js";
import type { Database, Sql } from "../sql/database.js";
import { type JoinedDatabase, joinedDatabase } from "../sql/joined-database.js";
import { isWorthPreparing } from "../sql/statement.js";
import type { Connections, DatabaseLoad, LeasedConnection, PostgresStatement } from "./connections.js";
import { PoolConnections, queryOn } from "./pool-connections.js";

/** Requests must fail quickly: these are their limits, on connections of the service and on those of an embedder. */
export const LOCK_MILLISECONDS = 3_000;
export const STATEMENT_MILLISECONDS = 4_000;
/** A transaction of a paused or killed process must not hold an account's lock. */
export const IDLE_IN_TRANSACTION_MILLISECONDS = 4_000;
/** All decisions of the stores are made for this level: a statement sees what was committed before it began. */
const ISOLATION = "read committed";
/** An embedder's connections may have others, so they are set for each transaction, in the message that begins it. */
const TRANSACTION_LIMITS = [
  `set local lock_timeout = ${LOCK_MILLISECONDS}`,
  `set local statement_timeout = ${STATEMENT_MILLISECONDS}`,
  `set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MILLISECONDS}`,
].join("; ");

/** Attempts when PostgreSQL aborts a transaction or a single statement (serialization failure or deadlock). */
const TRANSACTION_ATTEMPTS = 5;
const ABORTED = new Set(["40001", "40P01"]);
/** A lock or a statement has taken too long, and PostgreSQL has undone what the statement had written. */
const TIMED_OUT = new Set(["55P03", "57014"]);
/** A statement that meets this is undone, too. */
const DISK_FULL = "53100";
/** A migration has changed the columns of a statement that this connection prepared before. */
const STALE_PLAN = "0A000";

/** A database on the connections of an embedder. Throws if its settings do not fit. */
export async function databaseInPool({ pool, schema }: PostgresInstallation): Promise<PostgresDatabase> {
  const database = new PostgresDatabase(new PoolConnections(pool), namesInSchema(schema), `; ${TRANSACTION_LIMITS}`);
  const [row] = await database.sql("select current_setting('default_transaction_isolation') as isolation");
  if (row?.isolation === ISOLATION) return database;
  throw new Error(
    `The connections of the pool have default_transaction_isolation ${JSON.stringify(row?.isolation)}. The stores need ${JSON.stringify(ISOLATION)}.`,
  );
}

/** PostgreSQL through a pool of connections. Statements are prepared once on each connection. */
export class PostgresDatabase implements Database {
  readonly dialect = "postgresql";
  private readonly connections: Connections;
  private readonly names: TableNames;
  private readonly settings: string;
  private readonly prepared = new Map<string, PostgresStatement>();

  /** `settings` are sent with each `begin`. */
  constructor(connections: Connections, names: TableNames, settings: string) {
    this.connections = connections;
    this.names = names;
    this.settings = settings;
  }

  /** A connection whose statement failed is not reused, so each retry after a stale plan meets one fewer of them. */
  readonly sql: Sql = (statement, parameters) =>
    this.repeated(() => rowsOf(this.connections, this.toSend(statement), parameters));

  transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    return this.repeated(() => this.within(`begin isolation level ${ISOLATION}`, work));
  }

  private async repeated<T>(attempt: () => Promise<T>): Promise<T> {
    for (let aborted = 0, stale = 0; ; ) {
      try {
        return await attempt();
      } catch (error) {
        const code = codeOf(error);
        if (ABORTED.has(code)) aborted += 1;
        else if (code === STALE_PLAN) stale += 1;
        else throw busyOr(error);
        if (aborted === TRANSACTION_ATTEMPTS) throw abortedAgain(error);
        if (stale > this.connections.max) throw error;
      }
    }
  }

  async snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const begin = "begin isolation level repeatable read read only";
    const read = await this.within<T, never>(begin, async (sql) => ok(await work(sql)));
    return read._unsafeUnwrap();
  }

  /** True if these migrations have run. */
  async isMigrated(steps: readonly Step[]): Promise<boolean> {
    return pendingSteps(await this.recordedSteps(), steps).length === 0;
  }

  /** The rows of the table that records the migrations; none if it does not exist. */
  async recordedSteps(): Promise<readonly Row[]> {
    const [table] = await this.sql("select to_regclass(?) is not null as there", [this.names.of(MIGRATION_TABLE)]);
    return table?.there === true ? this.sql(`select name from ${MIGRATION_TABLE}`) : [];
  }

  /** Reads and writes share the connections. */
  isOverloaded(): boolean {
    return this.connections.isOverloaded;
  }

  get load(): DatabaseLoad | undefined {
    return this.connections.load;
  }

  async ping(): Promise<void> {
    await this.sql("select 1");
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  /** The same tables in the transaction that is open on a client of the embedder. */
  joined(client: Pick<PoolClient, "query">): JoinedDatabase {
    const query = queryOn(client);
    // Not prepared: a migration makes prepared statements fail, and the transaction of the embedder with them.
    const sql: Sql = (statement, parameters) =>
      rowsOf({ query }, unprepared(this.toSend(statement).text), parameters).catch((error: unknown) => {
        throw busyOr(error);
      });
    return joinedDatabase(client, { dialect: this.dialect, sql });
  }

  /** The statement as PostgreSQL gets it, and the name under which each connection prepares it once. */
  private toSend(statement: string): PostgresStatement {
    const known = this.prepared.get(statement);
    if (known !== undefined) return known;
    const text = this.names.inStatement(numbered(statement));
    if (!isWorthPreparing(statement)) return { text, brief: false };
    const first = countsRequest(statement);
    const made = { text, name: nameOf(text), brief: first || isRead(statement), first };
    this.prepared.set(statement, made);
    return made;
  }

  private async within<T, E>(begin: string, work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>> {
    const connection = await this.connections.lease();
    let broken = false;
    try {
      await connection.query(unprepared(begin + this.settings), []);
      // Whatever fails before the commit is rolled back.
      const result = await work((statement, parameters) =>
        rowsOf(connection, this.toSend(statement), parameters),
      ).catch((error: unknown) => {
        throw busyOr(error);
      });
      await connection.query(unprepared(result.isOk() ? "commit" : "rollback"), []);
      return result;
    } catch (error) {
      // A connection that cannot roll back, or whose statements are stale, is not reused.
      if (codeOf(error) === STALE_PLAN) broken = true;
      await connection.query(unprepared("rollback"), []).catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      connection.release(broken);
    }
  }
}

const unprepared = (text: string): PostgresStatement => ({ text, brief: false });

async function rowsOf(
  connection: Pick<Connections | LeasedConnection, "query">,
  statement: PostgresStatement,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    return await connection.query(statement, parameters);
  } catch (error) {
    // The driver's stack begins at the socket. This one leads to the caller.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}

const busyOr = (error: unknown): unknown => {
  const code = codeOf(error);
  if (isUnreachable(error))
    return new StoreUnreachable(`PostgreSQL is away: ${error.message || code}`, { cause: error });
  if (code === DISK_FULL) return new StoreFull("The disk of PostgreSQL is full.", { cause: error });
  return TIMED_OUT.has(code)
    ? new StoreBusy(`PostgreSQL could not do this in time: ${(error as Error).message}`, { cause: error })
    : error;
};

/** SQLSTATE of a server that stops, starts, or has ended the connection. */
const SHUTDOWN = /^(57P0[1-5]|08\d\d\d)$/;
const NETWORK = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND"],
  ...["EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"],
]);
/** Errors of the driver, and of connections that are given up, have no code. */
const WITHOUT_CODE = /^(Connection terminated|PostgreSQL did not answer for)/;

/** True for an error that says that PostgreSQL cannot be reached, not that it refuses the statement. */
function isUnreachable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? SHUTDOWN.test(code) || NETWORK.has(code) : WITHOUT_CODE.test(error.message);
}

const abortedAgain = (cause: unknown): StoreBusy =>
  new StoreBusy("PostgreSQL aborts a transaction again and again.", { cause });

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code);

/** The statement with PostgreSQL's numbered parameters. */
function numbered(statement: string): string {
  let number = 0;
  return statement.replaceAll("?", () => {
    number += 1;
    return `$${number}`;
  });
}

/** On a connection a name belongs to one text, whoever prepares it: another installation, or another version. */
const nameOf = (text: string): string =>
  `panorama_${createHash("sha256").update(text).digest("hex").slice(0, NAME_DIGITS)}`;
/** 64 bits, for some hundred texts: each execution sends the name. */
const NAME_DIGITS = 16;

/** Waits for no lock of a transaction. */
const isRead = (statement: string): boolean => /^\s*select\b/.test(statement) && !statement.includes("for update");

/**
 * Every request begins with such a statement. A row of `rate_limit` is locked by one statement at a time, never by a
 * transaction.
 */
const countsRequest = (statement: string): boolean => statement.includes("insert into rate_limit");
