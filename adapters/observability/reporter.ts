import type { Logger } from "pino";
import type { OperationalEvent, Reporter } from "../../application/ports/reporter.js";
import { withoutSecretFields } from "./logger.js";
import type { Metrics } from "./metrics.js";
import type { Tracing } from "./tracing.js";

/** Writes a log line and updates a metric for each event. */
export class OperationalReporter implements Reporter {
  private readonly logger: Logger;
  /** For events of numbers and texts, none of which is a prompt or a secret (application/ports/reporter.ts). */
  private readonly textLogger: Logger;
  private readonly metrics: Metrics;
  readonly trace?: NonNullable<Reporter["trace"]>;

  /** With `tracing`, background work on a task is traced. */
  constructor(logger: Logger, metrics: Metrics, tracing?: Tracing) {
    if (tracing !== undefined) this.trace = (work, task, run) => tracing.onTask(work, task, run);
    this.logger = logger;
    this.textLogger = withoutSecretFields(logger);
    this.metrics = metrics;
  }

  report(event: OperationalEvent): void {
    log("error" in event ? this.logger : this.textLogger, event);
    count(this.metrics, event);
  }
}

const log = (logger: Logger, event: OperationalEvent): void => {
  const { kind, ...fields } = event;
  const line = { event: kind, ...fields };
  switch (event.kind) {
    case "work_failed":
    case "task_unreadable":
      logger.error(line);
      break;
    case "possible_orphan":
    case "provider_unavailable":
    case "mail_failed":
    case "payment_ignored":
    case "webhook_endpoint_off":
    case "retention_pending":
      logger.warn(line);
      break;
    default:
      logger.info(line);
  }
};

const count = (metrics: Metrics, event: OperationalEvent): void => {
  switch (event.kind) {
    case "task_queued":
      metrics.tasksQueued.inc();
      break;
    case "task_requeued":
      metrics.tasksRequeued.inc();
      break;
    case "task_submitted":
      metrics.tasksSubmitted.inc();
      break;
    case "picture_measured":
      metrics.seams.observe(event.seam);
      break;
    case "task_succeeded":
      metrics.taskSeconds.observe(event.seconds);
      break;
    case "task_failed":
      metrics.tasksFailed.inc({ reason: event.reason });
      break;
    case "possible_orphan":
      metrics.possibleOrphans.inc();
      break;
    case "submission_recovered":
      metrics.submissionsRecovered.inc();
      break;
    case "provider_unavailable":
      metrics.providerUnavailable.inc();
      break;
    case "image_status":
      metrics.imageStatuses.inc({ status: event.status });
      break;
    case "mail_failed":
      metrics.mailFailures.inc();
      break;
    case "payment_ignored":
      break;
    case "webhook_attempt":
      metrics.webhookAttempts.inc({ state: event.state });
      break;
    case "webhook_endpoint_off":
      metrics.webhookEndpointsOff.inc({ reason: event.reason });
      break;
    case "images_expired":
      metrics.imagesExpired.inc({ images: event.retained }, event.count);
      break;
    case "retention_in_force":
      metrics.retentionPending.set({ images: event.retained }, 0);
      break;
    case "retention_pending":
      metrics.retentionPending.set({ images: event.retained }, event.count);
      break;
    case "work_failed":
      metrics.workFailures.inc({ work: event.work });
      break;
    case "task_unreadable":
      metrics.tasksUnreadable.inc();
      break;
    default:
      event satisfies never;
  }
};
