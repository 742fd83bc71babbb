import type { Awaitable } from "../../application/awaitable.js";
import type { FinishedRequest } from "../../application/ports/reporter.js";

/** Receives what logs and metrics record about requests. */
export type Observer = {
  /**
   * Runs `work`. If `logs`, its log lines contain the request id, which costs time for each promise in `work`. `trace`
   * has the W3C trace context of the request. Before `work` runs, it may be replaced by the context of a span of this
   * trace.
   */
  run(requestId: string, work: () => Awaitable<void>, logs: boolean, trace: { traceparent: string }): void;
  finished(request: FinishedRequest): void;
  /** A request was refused because the service is overloaded. There is no `run` and no `finished` for it. */
  overloaded(): void;
  /** An unexpected error, such as a bug. The client gets only `internal_error` and the request id. */
  failed(requestId: string, error: unknown): void;
};
