import type { Awaitable } from "../../application/awaitable.js";

/** The outcome of one request. It contains no path, body or secret of a key. */
export type FinishedExchange = {
  readonly requestId: string;
  /** The id of the request's trace, 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
  readonly method: string;
  /** The pattern of the route, never the path itself; `unknown` if no route matches. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** Who has sent it, if the request was authenticated; `keyId`: with which key. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Of the client: an IPv4 address, or the /64 of an IPv6 address. Empty if the client has left too early. */
  readonly network: string;
  /** The kind of error in an answer of the REST interface, such as `rate_limited`; `undefined` if there is none. */
  readonly error?: string | undefined;
  /** The client disconnected before it had the whole answer. */
  readonly aborted: boolean;
};

/** Receives what logs and metrics record about requests. */
export type Observer = {
  /**
   * Runs `work`. If `logs`, its log lines contain the request id, which costs time for each promise in `work`. `trace`
   * has the W3C trace context of the request. Before `work` runs, it may be replaced by the context of a span of this
   * trace.
   */
  run(requestId: string, work: () => Awaitable<void>, logs: boolean, trace: { traceparent: string }): void;
  finished(exchange: FinishedExchange): void;
  /** A request was refused because the service is overloaded. There is no `run` and no `finished` for it. */
  overloaded(): void;
  /** An unexpected error, such as a bug. The client gets only `internal_error` and the request id. */
  failed(requestId: string, error: unknown): void;
};
