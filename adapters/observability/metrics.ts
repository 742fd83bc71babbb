import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** `route` is the pattern (`/panoramas/:id`), not the path: a metric label must have few values, so never an id. */
export type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

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
  private readonly requestSecondsByLabels = new Map<string, Histogram.Internal<"method" | "route" | "status">>();
  private inFlight = 0;

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
    help: "Time from the reservation of a task to its success.",
    buckets: [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300, 600],
    registers: this.registers,
  });
  readonly seams = new Histogram({
    name: "panorama_seam_levels",
    help: "Seam of each generated picture before it is blended, in levels of 0 to 255.",
    buckets: [0, 1, 3, 6, 10, 20, 40, 80],
    registers: this.registers,
  });
  readonly tasksFailed = new Counter({
    name: "panorama_tasks_failed_total",
    help: "Tasks that failed and were refunded.",
    labelNames: ["reason"] as const,
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
  readonly imageStatuses = new Counter({
    name: "panorama_image_attempts_total",
    help: "Attempts to move a finished image into permanent storage, by the resulting storage status.",
    labelNames: ["status"] as const,
    registers: this.registers,
  });
  readonly mailFailures = new Counter({
    name: "panorama_mail_failures_total",
    help: "E-mails that could not be sent.",
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

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  requestStarted(): void {
    this.inFlight += 1;
  }

  requestAnswered({ method, route, status, seconds }: AnsweredRequest): void {
    this.inFlight -= 1;
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
