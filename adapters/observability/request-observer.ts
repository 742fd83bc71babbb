import type { Logger } from "pino";
import { withoutSecretFields } from "./logger.js";
import type { AnsweredRequest, Metrics } from "./metrics.js";
import { withRequest } from "./request-context.js";

type FinishedRequest = AnsweredRequest & { readonly requestId: string; readonly aborted: boolean };

const OVERLOAD_LOG_MILLISECONDS = 10_000;

/** Writes one log line per request and updates the request metrics. */
export class RequestObserver {
  private readonly logger: Logger;
  /** For the line of each request. */
  private readonly requestLogger: Logger;
  private readonly metrics: Metrics;
  private overloadLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger, metrics: Metrics) {
    this.logger = logger;
    this.requestLogger = withoutSecretFields(logger);
    this.metrics = metrics;
  }

  /** If `logs`, each log line that `work`, or asynchronous work awaited by it, writes contains the request's id. */
  run(requestId: string, work: () => void | Promise<void>, logs = true): void {
    this.metrics.requestStarted();
    void (logs ? withRequest({ requestId }, work) : work());
  }

  /** Must be called exactly once for each call of `run`. */
  finished({ requestId, method, route, status, seconds, error, aborted }: FinishedRequest): void {
    this.metrics.requestAnswered({ method, route, status, seconds, error });
    this.requestLogger.info({
      event: "request",
      requestId,
      method,
      route,
      status,
      seconds,
      error,
      aborted: aborted || undefined,
    });
  }

  /** Logs only the first refusal of a period: a line for each would be a load of its own. */
  overloaded(): void {
    this.metrics.requestsRefused.inc();
    const now = performance.now();
    if (now - this.overloadLoggedAt < OVERLOAD_LOG_MILLISECONDS) return;
    this.overloadLoggedAt = now;
    this.logger.warn({ event: "overloaded" });
  }

  failed(requestId: string, error: unknown): void {
    this.logger.error({ event: "request_failed", requestId, error });
  }
}
