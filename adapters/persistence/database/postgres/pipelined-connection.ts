import pg, { type Client, type ClientConfig } from "pg";
import type { PreparedStatement } from "./postgres-query.js";

const IN_FLIGHT_MAX = 8;

/** A connection with the statements in flight on it. `postgres-connections.ts` says when it accepts more. */
export class PipelinedConnection {
  readonly client: Client;
  readonly closed: Promise<void>;
  /** The statements that it has prepared, by name. */
  readonly prepared = new Map<string, PreparedStatement>();
  state: "opening" | "open" | "retired" = "opening";
  /** Statements that are not answered yet, and the lease. */
  inFlight = 0;
  /** Statements that are not answered yet. The server owes an answer only while there are any. */
  unanswered = 0;
  /** No statement may be sent behind the statements in flight. */
  exclusive = false;
  /** Since the last answer, or since the first statement after an idle time was sent. */
  ticks = 0;
  private gathers = false;

  constructor(config: ClientConfig) {
    this.client = new pg.Client(config);
    this.closed = new Promise((resolve) => this.client.once("end", resolve));
  }

  /** Sends all statements of one turn of the event loop in one write. */
  gather(): void {
    if (this.gathers) return;
    this.gathers = true;
    const { stream } = this.client.connection;
    stream.cork();
    setImmediate(() => {
      this.gathers = false;
      stream.uncork();
    });
  }

  /** The statements in flight fail, because the connection ends. */
  fail(message: string): void {
    this.client.connection.stream.destroy(new Error(message));
  }

  get acceptsMore(): boolean {
    return this.state === "open" && !this.exclusive && this.inFlight < IN_FLIGHT_MAX && this.ticks === 0;
  }
}
