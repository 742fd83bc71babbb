import type { Logger } from "pino";
import type { FinishedRequest } from "../../application/ports/reporter.js";
import { AwayLog, flatLines, withRequest } from "./logger.js";
import type { Metrics } from "./metrics.js";
import type { Tracing } from "./tracing.js";

const OVERLOAD_LOG_MILLISECONDS = 10_000;

/** Writes one log line per request and updates the request metrics. */
export class RequestObserver {
  private readonly logger: Logger;
  private readonly writeLine: (fields: object) => void;
  private readonly metrics: Metrics;
  private readonly tracing: Tracing | undefined;
  private readonly awayLog: AwayLog;
  private overloadLoggedAt = Number.NEGATIVE_INFINITY;

  /** With `tracing`, each request is a span. */
  constructor(logger: Logger, metrics: Metrics, tracing?: Tracing, awayLog = new AwayLog(logger)) {
    this.awayLog = awayLog;
    this.tracing = tracing;
    this.logger = logger;
    this.writeLine = flatLines(logger);
    this.metrics = metrics;
  }

  /**
   * If `logs`, each log line of `work`, and of asynchronous work that it awaits, contains the request's id. `trace` has
   * the W3C trace context of the request, and gets that of its span.
   */
  run(requestId: string, work: () => void | Promise<void>, logs = true, trace?: { traceparent: string }): void {
    this.metrics.requestStarted();
    const run = () => (logs ? withRequest({ requestId }, work) : work());
    if (this.tracing === undefined || trace === undefined) void run();
    else this.tracing.request(trace, run);
  }

  /** Must be called exactly once for each call of `run`. */
  finished(request: FinishedRequest): void {
    const { requestId, traceId, method, route, status, seconds, error, aborted } = request;
    this.metrics.requestAnswered({ method, route, status, seconds, error });
    this.tracing?.endRequest(method, route, status);
    this.writeLine({
      event: "request",
      requestId,
      traceId,
      method,
      route,
      status,
      seconds,
      accountId: request.accountId,
      keyId: request.keyId,
      network: request.network,
      error,
      aborted: aborted || undefined,
    });
  }

  /** Logs only the first refusal of a period: a line for each would add to the load. */
  overloaded(): void {
    this.metrics.requestsRefused.inc();
    const now = performance.now();
    if (now - this.overloadLoggedAt < OVERLOAD_LOG_MILLISECONDS) return;
    this.overloadLoggedAt = now;
    this.logger.warn({ event: "overloaded" });
  }

  failed(requestId: string, error: unknown): void {
    if (this.awayLog.logIfAway(error)) return;
    this.logger.error({ event: "request_failed", requestId, error });
  }
}
