import type { PoolClient, PoolQuery, PostgresPool } from "../schema/installation.js";
import type { Row } from "../sql/columns.js";
import type { Connections, LeasedConnection, PostgresStatement } from "./connections.js";
import { TYPES } from "./postgres-types.js";

/** The most callers that may wait for a connection: further ones would wait too long. */
const WAITING_MAX = 128;

/**
 * An embedder's `pg.Pool`, which belongs to the embedder: none of its settings changes, and its other statements work
 * as before.
 *
 * Each statement takes one round trip, as on own connections, but has its connection to itself: nothing is pipelined.
 * The time limits in `postgres-database.ts` apply inside transactions, which could hold locks. For a single statement,
 * and for the wait for a connection, those of the pool apply: `statement_timeout`, `query_timeout`,
 * `connectionTimeoutMillis`.
 */
export class PoolConnections implements Connections {
  private readonly pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.pool = pool;
  }

  get max(): number {
    return this.pool.options.max;
  }

  readonly load = undefined;

  get isOverloaded(): boolean {
    return this.pool.waitingCount > WAITING_MAX;
  }

  /** The pool closes a connection whose statement failed. */
  async query(statement: PostgresStatement, parameters: readonly unknown[]): Promise<Row[]> {
    return (await this.pool.query(queryOf(statement, parameters))).rows;
  }

  async lease(): Promise<LeasedConnection> {
    const client = await this.pool.connect();
    // Without a listener a lost connection would end the process. The statement that is in progress fails.
    client.on("error", ignore);
    return {
      query: queryOn(client),
      release: (broken) => {
        client.off("error", ignore);
        client.release(broken);
      },
    };
  }

  /** The pool stays open. */
  async close(): Promise<void> {}
}

/** Sends statements on a client of the embedder. */
export const queryOn =
  (client: Pick<PoolClient, "query">): LeasedConnection["query"] =>
  async (statement, parameters) =>
    (await client.query(queryOf(statement, parameters))).rows;

function ignore(): void {}

/** Without values it is one message, in which `begin` and settings can be together. */
const queryOf = ({ text, name }: PostgresStatement, parameters: readonly unknown[]): PoolQuery =>
  parameters.length === 0 && name === undefined
    ? { text, types: TYPES }
    : { text, ...(name !== undefined && { name }), values: [...parameters], types: TYPES };
