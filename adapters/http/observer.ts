/** What became of one request; no path, key or body is part of it. */
export type FinishedExchange = {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, never the path itself; `unknown` if no route fits. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** The client went away before it had the whole answer. */
  readonly aborted: boolean;
};

/** Logs and metrics, seen from here. */
export type Observer = {
  /** Runs the work so that whatever it logs carries the request id. */
  run(requestId: string, work: () => void): void;
  finished(exchange: FinishedExchange): void;
  /** A bug, or a dead database: the client is told no more than `internal_error` and the request id. */
  failed(requestId: string, error: unknown): void;
};
