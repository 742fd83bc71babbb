import type { Logger } from "pino";
import type { AnsweredRequest, Metrics } from "./metrics.js";
import { withRequest } from "./request-context.js";

type FinishedRequest = AnsweredRequest & { readonly requestId: string; readonly aborted: boolean };

/** Sees every request come and go: one log line each, and the request metrics. */
export class RequestObserver {
  private readonly logger: Logger;
  private readonly metrics: Metrics;

  constructor(logger: Logger, metrics: Metrics) {
    this.logger = logger;
    this.metrics = metrics;
  }

  /** Whatever is logged by `work`, or by what it starts, carries the request's id. */
  run(requestId: string, work: () => void): void {
    this.metrics.requestStarted();
    withRequest({ requestId }, work);
  }

  /** Once for every request that was run. */
  finished({ requestId, method, route, status, seconds, aborted }: FinishedRequest): void {
    this.metrics.requestAnswered({ method, route, status, seconds });
    this.logger.info({ event: "request", requestId, method, route, status, seconds, ...(aborted && { aborted }) });
  }

  failed(requestId: string, error: unknown): void {
    this.logger.error({ event: "request_failed", requestId, error });
  }
}
