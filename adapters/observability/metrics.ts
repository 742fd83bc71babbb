import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from "prom-client";
import type { FinishedRequest } from "../../application/ports/reporter.js";

/** Seconds of a call to a storage or a provider. */
const CALL_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Seconds = Histogram.Internal<"method" | "route" | "status">;

/** Default gauges of the library that have the suffix of a counter. Other metrics have the same numbers. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** The metrics for Prometheus. Each instance of this class has its own registry, which includes the process metrics. */
export class Metrics {
  readonly registry = new Registry();

  private counter<Label extends string = never>(of: CounterConfiguration<Label>): Counter<Label> {
    return new Counter({ ...of, registers: [this.registry] });
  }

  private gauge<Label extends string = never>(of: GaugeConfiguration<Label>): Gauge<Label> {
    return new Gauge({ ...of, registers: [this.registry] });
  }

  private histogram<Label extends string = never>(of: HistogramConfiguration<Label>): Histogram<Label> {
    return new Histogram({ ...of, registers: [this.registry] });
  }

  private readonly requestSeconds = this.histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer a request.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  private readonly requestsInFlight = this.gauge({
    name: "http_requests_in_flight",
    help: "Requests in flight: started and not yet answered.",
  });
  readonly requestsRefused = this.counter({
    name: "http_requests_refused_total",
    help: "Requests refused because the service was overloaded.",
  });
  private readonly requestErrors = this.counter({
    name: "http_request_errors_total",
    help: "Requests of the REST interface that were answered with an error, by what was wrong.",
    labelNames: ["kind"],
  });
  /** By route, method and status: to join them to one key takes longer than to look up three. */
  private readonly requestSecondsOf = new Map<string, Map<string, Map<number, Seconds>>>();
  private inFlight = 0;
  private readonly buildInfo = this.gauge({
    name: "panorama_build_info",
    help: "Always 1. The labels say which version runs, on which version of Node.js.",
    labelNames: ["version", "node"],
  });
  readonly credits = this.counter({
    name: "panorama_credits_total",
    help: "Credits that this instance has reserved for new tasks, charged for succeeded ones, refunded for failed ones, and granted for paid orders.",
    labelNames: ["kind"],
  });
  readonly tasks = this.gauge({
    name: "panorama_tasks",
    help: "Unfinished tasks of all instances by state, at most 10000 of each. Those that succeeded have an image to store or to erase.",
    labelNames: ["state"],
  });
  readonly tasksOldestSeconds = this.gauge({
    name: "panorama_tasks_oldest_seconds",
    help: "Age of the oldest unfinished task of a state, since its reservation; 0 if there is none.",
    labelNames: ["state"],
  });
  readonly tasksOverdueSeconds = this.gauge({
    name: "panorama_tasks_overdue_seconds",
    help: "For how long the background work on a task of a state has been due without a lease, at most; 0 if none is due.",
    labelNames: ["state"],
  });
  readonly leases = this.counter({
    name: "panorama_leases_total",
    help: "Leases that this instance took to work on tasks, by work.",
    labelNames: ["work"],
  });
  readonly staleWrites = this.counter({
    name: "panorama_stale_writes_total",
    help: "Changes of tasks that were refused because somebody else had changed or claimed the task first.",
  });
  readonly queueWaitSeconds = this.histogram({
    name: "panorama_queue_wait_seconds",
    help: "Time from the reservation of a task to its start, for tasks that waited in the queue.",
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
  });
  readonly tasksQueued = this.counter({
    name: "panorama_tasks_queued_total",
    help: "Tasks that had to wait for a free slot of the provider.",
  });
  readonly tasksRequeued = this.counter({
    name: "panorama_tasks_requeued_total",
    help: "Submissions that started nothing and whose task waits in the queue again.",
  });
  readonly tasksSubmitted = this.counter({
    name: "panorama_tasks_submitted_total",
    help: "Tasks that the provider accepted.",
  });
  readonly taskSeconds = this.histogram({
    name: "panorama_task_duration_seconds",
    help: "Time from the reservation of a task to its success, by the provider, with its model, that has made it.",
    labelNames: ["provider"],
    buckets: [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300, 600],
  });
  readonly seams = this.histogram({
    name: "panorama_seam_levels",
    help: "Seam of each generated picture before it is blended, in levels of 0 to 255.",
    buckets: [0, 1, 3, 6, 10, 20, 40, 80],
  });
  readonly seamRatios = this.histogram({
    name: "panorama_result_seam_ratio",
    help: "Difference of the left and the right edge of each generated picture before it is blended, compared with neighbouring columns: about 1 if it closes.",
    labelNames: ["provider"],
    buckets: [0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 40],
  });
  readonly poleDeviations = this.histogram({
    name: "panorama_result_pole_deviation",
    help: "Standard deviation of the first row (zenith) and the last row (nadir) of each generated picture, in levels of 0 to 255: 0 is ideal.",
    labelNames: ["provider", "pole"],
    buckets: [1, 2, 4, 8, 12, 20, 30, 50, 80],
  });
  readonly tasksFailed = this.counter({
    name: "panorama_tasks_failed_total",
    help: "Tasks that failed and were refunded. The provider is none if the task was sent to none.",
    labelNames: ["provider", "reason"],
  });
  readonly possibleOrphans = this.counter({
    name: "panorama_possible_orphans_total",
    help: "Upstream tasks that may still run although their panorama task has ended.",
  });
  readonly submissionsRecovered = this.counter({
    name: "panorama_submissions_recovered_total",
    help: "Submissions whose answer was lost and whose upstream task was found later.",
  });
  readonly providerUnavailable = this.counter({
    name: "panorama_provider_unavailable_total",
    help: "Calls to the provider without a usable answer.",
  });
  readonly providerCircuits = this.gauge({
    name: "panorama_provider_circuit_state",
    help: "Calls sent to the provider: 0 closed (all), 1 half-open (one trial call), 2 open (none).",
    labelNames: ["provider"],
  });
  readonly providerSurprises = this.counter({
    name: "panorama_provider_surprises_total",
    help: "Answers of a provider that show that it and its adapter do not understand each other.",
    labelNames: ["provider"],
  });
  readonly providerCallSeconds = this.histogram({
    name: "panorama_provider_call_duration_seconds",
    help: "Time of a call to a remote provider. The outcome is the class of its status, or why it has no answer.",
    labelNames: ["provider", "method", "outcome"],
    buckets: CALL_SECONDS,
  });
  readonly storageCallSeconds = this.histogram({
    name: "panorama_storage_call_duration_seconds",
    help: "Time of a call to the image storage, by operation and outcome.",
    labelNames: ["operation", "outcome"],
    buckets: CALL_SECONDS,
  });
  readonly imageStatuses = this.counter({
    name: "panorama_image_attempts_total",
    help: "Attempts to move a finished image into permanent storage, by the resulting storage status.",
    labelNames: ["status"],
  });
  readonly imagesExpired = this.counter({
    name: "panorama_images_expired_total",
    help: "Uploaded images that this instance has deleted because no task uses them.",
  });
  readonly diskFreeBytes = this.gauge({
    name: "panorama_disk_free_bytes",
    help: "Free space of the file system of DATA_DIR.",
  });
  readonly diskBytes = this.gauge({
    name: "panorama_disk_bytes",
    help: "Size of the file system of DATA_DIR.",
  });
  readonly backupAgeSeconds = this.gauge({
    name: "panorama_backup_age_seconds",
    help: "Time since the file last-backup in DATA_DIR was written, which is the last backup; absent without one.",
  });
  readonly certificateExpires = this.gauge({
    name: "panorama_certificate_expires_timestamp_seconds",
    help: "When the certificate of PUBLIC_URL ends, as a Unix time; absent if nobody has answered there.",
  });
  readonly mailFailures = this.counter({
    name: "panorama_mail_failures_total",
    help: "E-mails that could not be sent.",
  });
  readonly deliveries = this.gauge({
    name: "panorama_webhook_deliveries",
    help: "Webhooks of all instances that are not delivered yet and will be tried, at most 10000.",
  });
  readonly deliveriesOldestSeconds = this.gauge({
    name: "panorama_webhook_deliveries_oldest_seconds",
    help: "Age of the oldest event with such a webhook; 0 if there is none.",
  });
  readonly deliveriesOverdueSeconds = this.gauge({
    name: "panorama_webhook_deliveries_overdue_seconds",
    help: "For how long an attempt to send a webhook has been due, at most; 0 if none is due.",
  });
  readonly pendingOrders = this.gauge({
    name: "panorama_pending_orders",
    help: "Orders of the last 30 days that wait for an operator to confirm their payment, at most 10000.",
  });
  readonly pendingOrdersOldestSeconds = this.gauge({
    name: "panorama_pending_orders_oldest_seconds",
    help: "Age of the oldest of these orders; 0 if there is none.",
  });
  readonly webhookAttempts = this.counter({
    name: "panorama_webhook_attempts_total",
    help: "Attempts to send an event to an endpoint, by the state of the delivery afterwards.",
    labelNames: ["state"],
  });
  readonly webhookEndpointsOff = this.counter({
    name: "panorama_webhook_endpoints_off_total",
    help: "Endpoints that were switched off because they failed for three days or are gone.",
    labelNames: ["reason"],
  });
  readonly tasksUnreadable = this.counter({
    name: "panorama_tasks_unreadable_total",
    help: "Stored tasks that this version cannot read.",
  });
  readonly workFailures = this.counter({
    name: "panorama_work_failures_total",
    help: "Runs of background work that threw.",
    labelNames: ["work"],
  });
  readonly logLinesLost = this.counter({
    name: "panorama_log_lines_lost_total",
    help: "Log lines that could not be written, for example on a full disk, and were dropped.",
  });
  readonly databaseUp = this.gauge({
    name: "panorama_database_up",
    help: "1 if the database has answered the last question about unfinished work, otherwise 0. Then the metrics about that work are absent.",
  });
  readonly clockDifferenceSeconds = this.gauge({
    name: "panorama_clock_difference_seconds",
    help: "How much this machine's clock is ahead of the time that all instances decide by, which is the database's; negative if it is behind.",
  });
  readonly databaseConnections = this.gauge({
    name: "panorama_database_connections",
    help: "Connections of this instance to the database, by state.",
    labelNames: ["state"],
  });
  readonly databaseConnectionsMax = this.gauge({
    name: "panorama_database_connections_max",
    help: "Maximum number of connections of this instance to the database.",
  });
  readonly databaseWaiting = this.gauge({
    name: "panorama_database_waiting",
    help: "Statements and transactions of this instance that wait for a connection, or on SQLite for the writer.",
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

  requestAnswered(request: Pick<FinishedRequest, "method" | "route" | "status" | "seconds" | "error">): void {
    const { method, route, status, seconds, error } = request;
    this.inFlight -= 1;
    if (error !== undefined) this.requestErrors.inc({ kind: error });
    const known = this.requestSecondsOf.get(route)?.get(method)?.get(status);
    (known ?? this.newRequestSeconds(method, route, status)).observe(seconds);
  }

  private newRequestSeconds(method: string, route: string, status: number): Seconds {
    const histogram = this.requestSeconds.labels({ method, route, status });
    const ofRoute = this.requestSecondsOf.get(route) ?? new Map<string, Map<number, Seconds>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, Seconds>();
    this.requestSecondsOf.set(route, ofRoute.set(method, ofMethod.set(status, histogram)));
    return histogram;
  }

  /** The metrics in Prometheus text format; the content type is `registry.contentType`. */
  text(): Promise<string> {
    this.requestsInFlight.set(this.inFlight);
    return this.registry.metrics();
  }
}
