import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { FinishedRequest } from "../../application/ports/reporter.js";

/** Seconds of a call to a storage or a provider. */
const CALL_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Default gauges of the library that have the suffix of a counter. Other metrics have the same numbers. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** The metrics for Prometheus. Each instance of this class has its own registry, which includes the process metrics. */
export class Metrics {
  readonly registry = new Registry();

  private readonly registers = [this.registry];
  private readonly requestSeconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer a request.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: this.registers,
  });
  private readonly requestsInFlight = new Gauge({
    name: "http_requests_in_flight",
    help: "Requests in flight: started and not yet answered.",
    registers: this.registers,
  });
  readonly requestsRefused = new Counter({
    name: "http_requests_refused_total",
    help: "Requests refused because the service was overloaded.",
    registers: this.registers,
  });
  private readonly requestErrors = new Counter({
    name: "http_request_errors_total",
    help: "Requests of the REST interface that were answered with an error, by what was wrong.",
    labelNames: ["kind"] as const,
    registers: this.registers,
  });
  private readonly requestSecondsByLabels = new Map<string, Histogram.Internal<"method" | "route" | "status">>();
  private inFlight = 0;

  private readonly buildInfo = new Gauge({
    name: "panorama_build_info",
    help: "Always 1. The labels say which version runs, on which version of Node.js.",
    labelNames: ["version", "node"] as const,
    registers: this.registers,
  });

  readonly credits = new Counter({
    name: "panorama_credits_total",
    help: "Credits that this instance has reserved for new tasks, charged for succeeded ones, refunded for failed ones, and granted for paid orders.",
    labelNames: ["kind"] as const,
    registers: this.registers,
  });

  readonly tasks = new Gauge({
    name: "panorama_tasks",
    help: "Unfinished tasks of all instances by state, at most 10000 of each. Those that succeeded have an image to store or to erase.",
    labelNames: ["state"] as const,
    registers: this.registers,
  });
  readonly tasksOldestSeconds = new Gauge({
    name: "panorama_tasks_oldest_seconds",
    help: "Age of the oldest unfinished task of a state, since its reservation; 0 if there is none.",
    labelNames: ["state"] as const,
    registers: this.registers,
  });
  readonly tasksOverdueSeconds = new Gauge({
    name: "panorama_tasks_overdue_seconds",
    help: "For how long the background work on a task of a state has been due without a lease, at most; 0 if none is due.",
    labelNames: ["state"] as const,
    registers: this.registers,
  });
  readonly leases = new Counter({
    name: "panorama_leases_total",
    help: "Leases that this instance took to work on tasks, by work.",
    labelNames: ["work"] as const,
    registers: this.registers,
  });
  readonly staleWrites = new Counter({
    name: "panorama_stale_writes_total",
    help: "Changes of tasks that were refused because somebody else had changed or claimed the task first.",
    registers: this.registers,
  });
  readonly queueWaitSeconds = new Histogram({
    name: "panorama_queue_wait_seconds",
    help: "Time from the reservation of a task to its start, for tasks that waited in the queue.",
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers: this.registers,
  });
  readonly tasksQueued = new Counter({
    name: "panorama_tasks_queued_total",
    help: "Tasks that had to wait for a free slot of the provider.",
    registers: this.registers,
  });
  readonly tasksRequeued = new Counter({
    name: "panorama_tasks_requeued_total",
    help: "Submissions that started nothing and whose task waits in the queue again.",
    registers: this.registers,
  });
  readonly tasksSubmitted = new Counter({
    name: "panorama_tasks_submitted_total",
    help: "Tasks that the provider accepted.",
    registers: this.registers,
  });
  readonly taskSeconds = new Histogram({
    name: "panorama_task_duration_seconds",
    help: "Time from the reservation of a task to its success, by the provider, with its model, that has made it.",
    labelNames: ["provider"] as const,
    buckets: [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300, 600],
    registers: this.registers,
  });
  readonly seams = new Histogram({
    name: "panorama_seam_levels",
    help: "Seam of each generated picture before it is blended, in levels of 0 to 255.",
    buckets: [0, 1, 3, 6, 10, 20, 40, 80],
    registers: this.registers,
  });
  readonly seamRatios = new Histogram({
    name: "panorama_result_seam_ratio",
    help: "Difference of the left and the right edge of each generated picture before it is blended, compared with neighbouring columns: about 1 if it closes.",
    labelNames: ["provider"] as const,
    buckets: [0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 40],
    registers: this.registers,
  });
  readonly poleDeviations = new Histogram({
    name: "panorama_result_pole_deviation",
    help: "Standard deviation of the first row (zenith) and the last row (nadir) of each generated picture, in levels of 0 to 255: 0 is ideal.",
    labelNames: ["provider", "pole"] as const,
    buckets: [1, 2, 4, 8, 12, 20, 30, 50, 80],
    registers: this.registers,
  });
  readonly tasksFailed = new Counter({
    name: "panorama_tasks_failed_total",
    help: "Tasks that failed and were refunded. The provider is none if the task was sent to none.",
    labelNames: ["provider", "reason"] as const,
    registers: this.registers,
  });
  readonly possibleOrphans = new Counter({
    name: "panorama_possible_orphans_total",
    help: "Upstream tasks that may still run although their panorama task has ended.",
    registers: this.registers,
  });
  readonly submissionsRecovered = new Counter({
    name: "panorama_submissions_recovered_total",
    help: "Submissions whose answer was lost and whose upstream task was found later.",
    registers: this.registers,
  });
  readonly providerUnavailable = new Counter({
    name: "panorama_provider_unavailable_total",
    help: "Calls to the provider without a usable answer.",
    registers: this.registers,
  });
  readonly providerCircuits = new Gauge({
    name: "panorama_provider_circuit_state",
    help: "Calls sent to the provider: 0 closed (all), 1 half-open (one trial call), 2 open (none).",
    labelNames: ["provider"] as const,
    registers: this.registers,
  });
  readonly providerSurprises = new Counter({
    name: "panorama_provider_surprises_total",
    help: "Answers of a provider that show that it and its adapter do not understand each other.",
    labelNames: ["provider"] as const,
    registers: this.registers,
  });
  readonly providerCallSeconds = new Histogram({
    name: "panorama_provider_call_duration_seconds",
    help: "Time of a call to a remote provider. The outcome is the class of its status, or why it has no answer.",
    labelNames: ["provider", "method", "outcome"] as const,
    buckets: CALL_SECONDS,
    registers: this.registers,
  });
  readonly storageCallSeconds = new Histogram({
    name: "panorama_storage_call_duration_seconds",
    help: "Time of a call to the image storage, by operation and outcome.",
    labelNames: ["operation", "outcome"] as const,
    buckets: CALL_SECONDS,
    registers: this.registers,
  });
  readonly imageStatuses = new Counter({
    name: "panorama_image_attempts_total",
    help: "Attempts to move a finished image into permanent storage, by the resulting storage status.",
    labelNames: ["status"] as const,
    registers: this.registers,
  });
  readonly imagesExpired = new Counter({
    name: "panorama_images_expired_total",
    help: "Uploaded images that this instance has deleted because no task uses them.",
    registers: this.registers,
  });
  readonly diskFreeBytes = new Gauge({
    name: "panorama_disk_free_bytes",
    help: "Free space of the file system of DATA_DIR.",
    registers: this.registers,
  });
  readonly diskBytes = new Gauge({
    name: "panorama_disk_bytes",
    help: "Size of the file system of DATA_DIR.",
    registers: this.registers,
  });
  readonly backupAgeSeconds = new Gauge({
    name: "panorama_backup_age_seconds",
    help: "Time since the file last-backup in DATA_DIR was written, which is the last backup; absent without one.",
    registers: this.registers,
  });
  readonly certificateExpires = new Gauge({
    name: "panorama_certificate_expires_timestamp_seconds",
    help: "When the certificate of PUBLIC_URL ends, as a Unix time; absent if nobody has answered there.",
    registers: this.registers,
  });
  readonly mailFailures = new Counter({
    name: "panorama_mail_failures_total",
    help: "E-mails that could not be sent.",
    registers: this.registers,
  });
  readonly deliveries = new Gauge({
    name: "panorama_webhook_deliveries",
    help: "Webhooks of all instances that are not delivered yet and will be tried, at most 10000.",
    registers: this.registers,
  });
  readonly deliveriesOldestSeconds = new Gauge({
    name: "panorama_webhook_deliveries_oldest_seconds",
    help: "Age of the oldest event with such a webhook; 0 if there is none.",
    registers: this.registers,
  });
  readonly deliveriesOverdueSeconds = new Gauge({
    name: "panorama_webhook_deliveries_overdue_seconds",
    help: "For how long an attempt to send a webhook has been due, at most; 0 if none is due.",
    registers: this.registers,
  });
  readonly pendingOrders = new Gauge({
    name: "panorama_pending_orders",
    help: "Orders of the last 30 days that wait for an operator to confirm their payment, at most 10000.",
    registers: this.registers,
  });
  readonly pendingOrdersOldestSeconds = new Gauge({
    name: "panorama_pending_orders_oldest_seconds",
    help: "Age of the oldest of these orders; 0 if there is none.",
    registers: this.registers,
  });
  readonly webhookAttempts = new Counter({
    name: "panorama_webhook_attempts_total",
    help: "Attempts to send an event to an endpoint, by the state of the delivery afterwards.",
    labelNames: ["state"] as const,
    registers: this.registers,
  });
  readonly webhookEndpointsOff = new Counter({
    name: "panorama_webhook_endpoints_off_total",
    help: "Endpoints that were switched off because they failed for three days or are gone.",
    labelNames: ["reason"] as const,
    registers: this.registers,
  });
  readonly tasksUnreadable = new Counter({
    name: "panorama_tasks_unreadable_total",
    help: "Stored tasks that this version cannot read.",
    registers: this.registers,
  });
  readonly workFailures = new Counter({
    name: "panorama_work_failures_total",
    help: "Runs of background work that threw.",
    labelNames: ["work"] as const,
    registers: this.registers,
  });

  readonly logLinesLost = new Counter({
    name: "panorama_log_lines_lost_total",
    help: "Log lines that could not be written, for example on a full disk, and were dropped.",
    registers: this.registers,
  });
  readonly databaseUp = new Gauge({
    name: "panorama_database_up",
    help: "1 if the database has answered the last question about unfinished work, otherwise 0. Then the metrics about that work are absent.",
    registers: this.registers,
  });
  readonly clockDifferenceSeconds = new Gauge({
    name: "panorama_clock_difference_seconds",
    help: "How much this machine's clock is ahead of the time that all instances decide by, which is the database's; negative if it is behind.",
    registers: this.registers,
  });
  readonly databaseConnections = new Gauge({
    name: "panorama_database_connections",
    help: "Connections of this instance to the database, by state.",
    labelNames: ["state"] as const,
    registers: this.registers,
  });
  readonly databaseConnectionsMax = new Gauge({
    name: "panorama_database_connections_max",
    help: "Maximum number of connections of this instance to the database.",
    registers: this.registers,
  });
  readonly databaseWaiting = new Gauge({
    name: "panorama_database_waiting",
    help: "Statements and transactions of this instance that wait for a connection, or on SQLite for the writer.",
    registers: this.registers,
  });

  constructor(build: { readonly version: string; readonly node: string }) {
    this.buildInfo.set(build, 1);
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    // So that the first one counts as an increase.
    for (const kind of ["reserved", "charged", "refunded", "granted"]) this.credits.inc({ kind }, 0);
  }

  requestStarted(): void {
    this.inFlight += 1;
  }

  requestAnswered({
    method,
    route,
    status,
    seconds,
    error,
  }: Pick<FinishedRequest, "method" | "route" | "status" | "seconds" | "error">): void {
    this.inFlight -= 1;
    if (error !== undefined) this.requestErrors.inc({ kind: error });
    const labels = `${method} ${status} ${route}`;
    let histogram = this.requestSecondsByLabels.get(labels);
    if (histogram === undefined) {
      histogram = this.requestSeconds.labels({ method, route, status });
      this.requestSecondsByLabels.set(labels, histogram);
    }
    histogram.observe(seconds);
  }

  /** The metrics in Prometheus text format; the content type is `registry.contentType`. */
  text(): Promise<string> {
    this.requestsInFlight.set(this.inFlight);
    return this.registry.metrics();
  }
}
