import type { Logger } from "pino";
import type { AnsweredRequest, Metrics } from "./metrics.js";
import { withRequest } from "./request-context.js";

type FinishedRequest = AnsweredRequest & { readonly requestId: string; readonly aborted: boolean };

/** Writes one log line per request and updates the request metrics. */
export class RequestObserver {
  private readonly logger: Logger;
  private readonly metrics: Metrics;

  constructor(logger: Logger, metrics: Metrics) {
    this.logger = logger;
    this.metrics = metrics;
  }

  /** Each log line that `work`, or asynchronous work started by it, writes contains the request's id. */
  run(requestId: string, work: () => void): void {
    this.metrics.requestStarted();
    withRequest({ requestId }, work);
  }

  /** Must be called exactly once for each call of `run`. */
  finished({ requestId, method, route, status, seconds, aborted }: FinishedRequest): void {
    this.metrics.requestAnswered({ method, route, status, seconds });
    this.logger.info({ event: "request", requestId, method, route, status, seconds, ...(aborted && { aborted }) });
  }

  failed(requestId: string, error: unknown): void {
    this.logger.error({ event: "request_failed", requestId, error });
  }
}
