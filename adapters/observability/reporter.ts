import type { Logger } from "pino";
import type { OperationalEvent, Reporter } from "../../application/ports/reporter.js";
import { AwayLog, withoutSecretFields } from "./logger.js";
import type { Metrics } from "./metrics.js";
import type { Tracing } from "./tracing.js";

/** Writes a log line and updates a metric for each event. */
export class OperationalReporter implements Reporter {
  private readonly logger: Logger;
  /** For events of numbers and texts, none of which is a prompt or a secret (application/ports/reporter.ts). */
  private readonly textLogger: Logger;
  private readonly metrics: Metrics;
  private readonly awayLog: AwayLog;
  readonly trace?: NonNullable<Reporter["trace"]>;

  /** With `tracing`, background work on a task is traced. */
  constructor(logger: Logger, metrics: Metrics, tracing?: Tracing, awayLog = new AwayLog(logger)) {
    this.awayLog = awayLog;
    if (tracing !== undefined) this.trace = (work, task, run) => tracing.onTask(work, task, run);
    this.logger = logger;
    this.textLogger = withoutSecretFields(logger);
    this.metrics = metrics;
  }

  report(event: OperationalEvent): void {
    if (!("error" in event && this.awayLog.logIfAway(event.error)))
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
      logger.warn(line);
      break;
    default:
      logger.info(line);
  }
};

type Counts = {
  readonly [Kind in OperationalEvent["kind"]]: (
    metrics: Metrics,
    event: Extract<OperationalEvent, { readonly kind: Kind }>,
  ) => void;
};

/** The label `provider` of a task that was sent to none. */
const UNKNOWN = "none";

/** Metrics of each event. The type requires all events. */
const COUNTS: Counts = {
  task_queued: ({ tasksQueued }) => tasksQueued.inc(),
  task_requeued: ({ tasksRequeued }) => tasksRequeued.inc(),
  task_submitted: ({ tasksSubmitted }) => tasksSubmitted.inc(),
  picture_measured: ({ seams, seamRatios, poleDeviations }, { provider = UNKNOWN, seam, seamRatio, poleDeviation }) => {
    seams.observe(seam);
    seamRatios.observe({ provider }, seamRatio);
    poleDeviations.observe({ provider, pole: "zenith" }, poleDeviation.zenith);
    poleDeviations.observe({ provider, pole: "nadir" }, poleDeviation.nadir);
  },
  task_succeeded: ({ taskSeconds }, { provider = UNKNOWN, seconds }) => taskSeconds.observe({ provider }, seconds),
  task_failed: ({ tasksFailed }, { provider = UNKNOWN, reason }) => tasksFailed.inc({ provider, reason }),
  possible_orphan: ({ possibleOrphans }) => possibleOrphans.inc(),
  submission_recovered: ({ submissionsRecovered }) => submissionsRecovered.inc(),
  provider_unavailable: ({ providerUnavailable }) => providerUnavailable.inc(),
  image_status: ({ imageStatuses }, { status }) => imageStatuses.inc({ status }),
  login_failed: () => {},
  mail_failed: ({ mailFailures }) => mailFailures.inc(),
  payment_ignored: () => {},
  payment_returned: () => {},
  webhook_attempt: ({ webhookAttempts }, { state }) => webhookAttempts.inc({ state }),
  webhook_endpoint_off: ({ webhookEndpointsOff }, { reason }) => webhookEndpointsOff.inc({ reason }),
  images_expired: ({ imagesExpired }, { count }) => imagesExpired.inc(count),
  work_failed: ({ workFailures }, { work }) => workFailures.inc({ work }),
  task_unreadable: ({ tasksUnreadable }) => tasksUnreadable.inc(),
};

const count = (metrics: Metrics, event: OperationalEvent): void =>
  // The function of the event's own kind takes this event.
  (COUNTS[event.kind] as (metrics: Metrics, event: OperationalEvent) => void)(metrics, event);
