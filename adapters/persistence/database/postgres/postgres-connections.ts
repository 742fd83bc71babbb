import type { ClientConfig } from "pg";
import { StoreBusy } from "../../../../application/ports/stores/store-errors.js";
import type { Row } from "../sql/columns.js";
import type { Connections, DatabaseLoad, LeasedConnection, PostgresStatement, Timeouts } from "./connections.js";
import { PipelinedConnection } from "./pipelined-connection.js";
import { PostgresQuery } from "./postgres-query.js";

/*
 * **Pipelining.** A statement is sent on an idle connection; if there is none, on a new one; and if there is none left,
 * behind the statements that a busy connection has not answered yet. So PostgreSQL finds the next statement without a
 * further round trip and without waking another process. Each is still a transaction of its own: one that fails does
 * not fail its neighbours (the driver sends a Sync after each).
 *
 * PostgreSQL answers the statements of a connection in order, so one that takes long delays those behind it. Therefore
 * - nothing is sent behind a transaction, nor behind a statement that may wait for the lock of one (`brief`), nor
 *   behind one that the connection has yet to prepare, as a failure to prepare it would fail the next ones too;
 * - at most IN_FLIGHT_MAX statements are on a connection, and nothing more once the current one runs for a tick.
 * So a brief statement that unexpectedly takes long delays at most IN_FLIGHT_MAX - 1 others, until its timeout at most.
 *
 * The driver `postgres` pipelines, too, but 3.4.9 ends the process when a connection is lost in a transaction, and
 * stores `false` for `true` when it repeats a statement whose plan a migration made stale.
 */

/** Timeouts are counted in ticks. They stop while the process is paused, so that it reads the answers first. */
const TICK_MILLISECONDS = 100;

/** The most first statements of requests that may wait: as many as are sent in this many ticks. */
const ARRIVING_TICKS_MAX = 3;
/** Number of statements that may always wait: a burst on a slow server is no overload. */
const ARRIVING_MIN = 128;
/** Sent per tick, before the first measurement. */
const SENT_PER_TICK_AT_FIRST = 256;
/** The weight of the last tick in the mean. */
const LAST_TICK_WEIGHT = 0.3;

type Waiting = {
  readonly send: (connection: PipelinedConnection) => void;
  readonly fail: (error: Error) => void;
  ticks: number;
};

/** Connections to PostgreSQL. They are opened when needed and closed when idle. */
export class PostgresConnections implements Connections {
  readonly max: number;
  private readonly config: ClientConfig;
  private readonly timeouts: Timeouts;
  private readonly all = new Set<PipelinedConnection>();
  /** The most recently used connection is used first, so that unneeded ones are closed. */
  private readonly idle: PipelinedConnection[] = [];
  /** Statements of work in progress. They are sent first, so that begun work ends before more begins. */
  private readonly waiting: Waiting[] = [];
  /** First statements of requests. */
  private readonly arriving: Waiting[] = [];
  private arrivalsSent = 0;
  /** The mean of the ticks during which arrivals always waited: what the server can do. */
  private arrivalsSentPerTick = SENT_PER_TICK_AT_FIRST;
  private arrivalsWaited = false;
  private opening = 0;
  private timer: NodeJS.Timeout | undefined;
  private closing = false;

  constructor(config: ClientConfig, max: number, timeouts: Timeouts) {
    this.max = max;
    this.config = { ...config, pipeline: true, connectionTimeoutMillis: timeouts.connectMilliseconds };
    this.timeouts = timeouts;
  }

  /** True if a new request would wait too long for its first statement. */
  get isOverloaded(): boolean {
    return this.arriving.length > Math.max(ARRIVING_MIN, this.arrivalsSentPerTick * ARRIVING_TICKS_MAX);
  }

  get load(): DatabaseLoad {
    return {
      connections: this.all.size,
      idleConnections: this.idle.length,
      connectionsMax: this.max,
      waiting: this.waitingCount,
    };
  }

  query(statement: PostgresStatement, parameters: readonly unknown[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.onceFree(
        (connection) => {
          const { brief, name } = statement;
          connection.exclusive = !brief || name === undefined || !connection.prepared.has(name);
          connection.gather();
          this.send(connection, statement, parameters, (error, rows) => {
            if (error === null) return resolve(rows);
            this.retire(connection);
            reject(error);
          });
        },
        reject,
        statement.first,
      );
    });
  }

  /** Gives one connection to one caller. Statements that are in flight on it are answered first. */
  lease(): Promise<LeasedConnection> {
    return new Promise((resolve, reject) => {
      this.onceFree((connection) => {
        connection.exclusive = true;
        connection.inFlight += 1;
        resolve(this.leaseOf(connection));
      }, reject);
    });
  }

  /** Waits for the statements in flight and for the leases. */
  async close(): Promise<void> {
    this.closing = true;
    for (const { fail } of [...this.waiting.splice(0), ...this.arriving.splice(0)]) fail(closedError());
    const closed = [...this.all].map((connection) => connection.closed);
    for (const connection of [...this.idle]) this.retire(connection);
    await Promise.all(closed);
  }

  private leaseOf(connection: PipelinedConnection): LeasedConnection {
    return {
      query: (statement, parameters) =>
        new Promise((resolve, reject) => {
          connection.ticks = 0;
          this.send(connection, statement, parameters, (error, rows) => {
            if (error === null) resolve(rows);
            else reject(error);
          });
        }),
      release: (broken) => {
        if (broken) this.retire(connection);
        this.answered(connection);
      },
    };
  }

  private send(
    connection: PipelinedConnection,
    { text, name }: PostgresStatement,
    parameters: readonly unknown[],
    done: (error: Error | null, rows: Row[]) => void,
  ): void {
    if (connection.inFlight === 0) connection.ticks = 0;
    connection.inFlight += 1;
    connection.unanswered += 1;
    const values = parameters as unknown[]; // only read
    const prepared = name === undefined ? undefined : connection.prepared.get(name);
    const query = new PostgresQuery({ text, name, values }, prepared, (error) => {
      connection.unanswered -= 1;
      if (error === null && name !== undefined) connection.prepared.set(name, query.statement);
      done(error, query.found);
      this.answered(connection);
    });
    connection.client.query(query);
  }

  private answered(connection: PipelinedConnection): void {
    connection.ticks = 0;
    connection.inFlight -= 1;
    if (connection.inFlight === 0) {
      connection.exclusive = false;
      this.rest(connection);
    }
    this.serve();
  }

  /** Calls one of the two, at once or later. */
  private onceFree(send: (connection: PipelinedConnection) => void, fail: (error: Error) => void, first = false): void {
    const connection = this.closing || this.waitingCount > 0 ? undefined : this.free();
    if (this.closing) fail(closedError());
    else if (connection !== undefined) send(connection);
    else {
      (first ? this.arriving : this.waiting).push({ send, fail, ticks: 0 });
      this.serve();
    }
  }

  private get waitingCount(): number {
    return this.waiting.length + this.arriving.length;
  }

  private next(): Waiting | undefined {
    if (this.waiting.length > 0) return this.waiting.shift();
    this.arrivalsSent += 1;
    return this.arriving.shift();
  }

  private free(): PipelinedConnection | undefined {
    const idle = this.idle.pop();
    if (idle !== undefined || this.all.size < this.max) return idle;
    let best: PipelinedConnection | undefined;
    for (const connection of this.all) {
      if (connection.acceptsMore && (best === undefined || connection.inFlight < best.inFlight)) best = connection;
    }
    return best;
  }

  private serve(): void {
    while (this.waitingCount > 0) {
      const connection = this.free();
      if (connection === undefined) break;
      this.next()?.send(connection);
    }
    while (this.opening < this.waitingCount && this.all.size < this.max) this.open();
  }

  private open(): void {
    const connection = this.newConnection();
    if (connection === undefined) return;
    this.all.add(connection);
    this.opening += 1;
    this.timer ??= setInterval(() => this.tick(), TICK_MILLISECONDS).unref();
    // Without a listener a lost connection would end the process. Statements in flight fail.
    connection.client.on("error", () => this.retire(connection));
    connection.client.once("end", () => this.retire(connection));
    connection.client.connect((error: Error | null) => {
      this.opening -= 1;
      if (error === null) {
        connection.state = "open";
        this.rest(connection);
      } else {
        this.retire(connection);
        this.next()?.fail(this.isConnected ? noFurther(error) : error);
      }
      this.serve();
    });
  }

  private get isConnected(): boolean {
    return [...this.all].some(({ state }) => state === "open");
  }

  /** The driver throws if it cannot read a certificate that the URL names. */
  private newConnection(): PipelinedConnection | undefined {
    try {
      return new PipelinedConnection(this.config);
    } catch (error) {
      this.next()?.fail(error as Error);
      return undefined;
    }
  }

  private rest(connection: PipelinedConnection): void {
    if (connection.state === "open" && !this.closing) this.idle.push(connection);
    else this.end(connection);
  }

  private retire(connection: PipelinedConnection): void {
    connection.state = "retired";
    if (connection.inFlight === 0) this.end(connection);
  }

  private end(connection: PipelinedConnection): void {
    if (!this.all.delete(connection)) return;
    const index = this.idle.indexOf(connection);
    if (index !== -1) this.idle.splice(index, 1);
    connection.client.end(() => {});
  }

  private measureArrivals(): void {
    const wait = this.arriving.length > 0;
    // A server that pauses sends nothing. It is as fast as before when it goes on.
    if (wait && this.arrivalsWaited && this.arrivalsSent > 0) {
      this.arrivalsSentPerTick += (this.arrivalsSent - this.arrivalsSentPerTick) * LAST_TICK_WEIGHT;
    }
    this.arrivalsWaited = wait;
    this.arrivalsSent = 0;
  }

  private tick(): void {
    const { waitMilliseconds, responseMilliseconds, idleMilliseconds } = this.timeouts;
    this.measureArrivals();
    for (const line of [this.waiting, this.arriving]) {
      while (line[0] !== undefined && line[0].ticks >= waitMilliseconds / TICK_MILLISECONDS) {
        line.shift()?.fail(new StoreBusy(`no connection to PostgreSQL became free in ${waitMilliseconds} ms`));
      }
      for (const waiting of line) waiting.ticks += 1;
    }
    for (const connection of this.all) {
      if (connection.state === "opening") continue;
      connection.ticks += 1;
      const milliseconds = connection.ticks * TICK_MILLISECONDS;
      if (connection.inFlight === 0 && milliseconds > idleMilliseconds) this.retire(connection);
      if (connection.unanswered > 0 && milliseconds > responseMilliseconds) {
        connection.fail(`PostgreSQL did not answer for ${responseMilliseconds} ms`);
      }
    }
    if (this.all.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }
}

/** The server works, but has no room for another connection, or takes too long to open it. */
const noFurther = (cause: Error): StoreBusy =>
  new StoreBusy(`no further connection to PostgreSQL could be opened: ${cause.message}`, { cause });

const closedError = (): Error => new Error("The connections to PostgreSQL are closed.");
