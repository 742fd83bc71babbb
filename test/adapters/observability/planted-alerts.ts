/** What every series of one instance has, and the alerts that name the instance. */
const ONE = 'job="panorama", instance="a"';

/** promtool's values, one a minute: in both cases, or when the alert fires and when it stays quiet; "" is no series. */
type Values = string | readonly [fires: string, staysQuiet: string];

/** An alert and when it is looked at, its labels when it fires, and the planted series. */
type PlantedAlert = readonly [
  alert: string,
  severity: "page" | "ticket",
  after: string,
  labels: string,
  series: Readonly<Record<string, Values>>,
];

const PLANTED: readonly PlantedAlert[] = [
  ["PanoramaDown", "page", "5m", ONE, { up: ["0x10", "1x10"] }],
  ["PanoramaRestarting", "page", "15m", ONE, { process_start_time_seconds: ["0x3 10x3 20x3 30x9", "0x8 10x12"] }],
  ["PanoramaDatabaseDown", "page", "3m", ONE, { panorama_database_up: ["0x10", "1x10"] }],
  ["PanoramaClockUnusable", "page", "3m", ONE, { panorama_clock_difference_seconds: ["-600x10", "60x10"] }],
  ["PanoramaClockWrong", "ticket", "6m", ONE, { panorama_clock_difference_seconds: ["-10x10", "0.2x10"] }],
  [
    "PanoramaErrors",
    "page",
    "20m",
    "",
    {
      'http_request_duration_seconds_count{status="200"}': "0+900x30",
      'http_request_duration_seconds_count{status="500"}': ["0+60x30", "0+1x30"],
    },
  ],
  [
    "PanoramaSlow",
    "ticket",
    "25m",
    "",
    {
      'http_request_duration_seconds_bucket{method="GET", route="/api/v1/panoramas/:id", status="200", le="0.5"}': [
        "0+300x30",
        "0+600x30",
      ],
      'http_request_duration_seconds_bucket{method="GET", route="/api/v1/panoramas/:id", status="200", le="2.5"}':
        "0+600x30",
      'http_request_duration_seconds_bucket{method="GET", route="/api/v1/panoramas/:id", status="200", le="+Inf"}':
        "0+600x30",
      'http_request_duration_seconds_count{method="GET", route="/api/v1/panoramas/:id", status="200"}': "0+600x30",
    },
  ],
  ["PanoramaOverloaded", "page", "15m", 'instance="a"', { http_requests_refused_total: ["0+60x30", "0x30"] }],
  ["PanoramaEventLoopSlow", "ticket", "15m", ONE, { nodejs_eventloop_lag_p99_seconds: ["0.5x30", "0.02x30"] }],
  [
    "PanoramaFileDescriptors",
    "ticket",
    "10m",
    ONE,
    { process_open_fds: ["900x30", "100x30"], process_max_fds: "1000x30" },
  ],
  ["PanoramaLogLost", "ticket", "6m", ONE, { panorama_log_lines_lost_total: ["0x3 40x7", "40x10"] }],
  ["PanoramaDatabaseBusy", "ticket", "10m", ONE, { panorama_database_waiting: ["80x30", "8x30"] }],
  [
    "PanoramaProviderDown",
    "page",
    "5m",
    `${ONE}, provider="fal"`,
    { 'panorama_provider_circuit_state{provider="fal"}': ["2x30", "1x30"] },
  ],
  [
    "PanoramaProviderNotUnderstood",
    "ticket",
    "30m",
    'provider="fal"',
    { 'panorama_provider_surprises_total{provider="fal"}': ["0x10 1x60", "1x70"] },
  ],
  [
    "PanoramaProviderCallsFailing",
    "ticket",
    "25m",
    'provider="fal"',
    {
      'panorama_provider_call_duration_seconds_count{provider="fal", outcome="2xx"}': "0+60x40",
      'panorama_provider_call_duration_seconds_count{provider="fal", outcome="no_answer"}': ["0+60x40", ""],
      'panorama_provider_call_duration_seconds_count{provider="fal", outcome="4xx"}': ["", "0+6x40"],
    },
  ],
  [
    "PanoramaTasksFailing",
    "page",
    "35m",
    "",
    {
      'panorama_tasks_failed_total{provider="fal:seedream-4.5", reason="refused"}': ["0+5x60", "0x60"],
      'panorama_task_duration_seconds_count{provider="fal:seedream-4.5"}': "0+15x60",
      'panorama_tasks_failed_total{provider="fal:seedream-4.5", reason="canceled"}': ["", "0+5x60"],
      'panorama_tasks_failed_total{provider="fal:seedream-4.5", reason="content_refused"}': ["", "0+5x60"],
      'panorama_tasks_failed_total{provider="fal:seedream-4.5", reason="reference_unusable"}': ["", "0+5x60"],
      'panorama_tasks_failed_total{provider="fal:seedream-4.5", reason="reference_unreachable"}': ["", "0+5x60"],
    },
  ],
  [
    "PanoramaQueueSlow",
    "ticket",
    "10m",
    "",
    {
      'panorama_tasks_oldest_seconds{state="queued"}': ["400x30", "40x30"],
      'panorama_tasks_oldest_seconds{instance="b", state="queued"}': ["400x30", ""],
      'panorama_tasks_oldest_seconds{state="submitted"}': ["", "400x30"],
    },
  ],
  [
    "PanoramaWorkOverdue",
    "page",
    "10m",
    'state="submitted"',
    {
      'panorama_tasks_overdue_seconds{state="submitted"}': ["300x30", "3x30"],
      'panorama_tasks_overdue_seconds{state="queued"}': ["0x30", ""],
    },
  ],
  [
    "PanoramaWorkFailing",
    "ticket",
    "25m",
    'work="poll"',
    { 'panorama_work_failures_total{work="poll"}': ["0+10x60", "0x20 1x40"] },
  ],
  [
    "PanoramaTaskStuck",
    "ticket",
    "10m",
    'state="generated"',
    {
      'panorama_tasks_oldest_seconds{state="generated"}': ["4000x30", ""],
      'panorama_tasks_oldest_seconds{state="succeeded"}': ["", "4000x30"],
    },
  ],
  [
    "PanoramaStorageFailing",
    "page",
    "25m",
    'operation="put"',
    {
      'panorama_storage_call_duration_seconds_count{operation="put", outcome="storage_unavailable"}': ["0+10x60", ""],
      'panorama_storage_call_duration_seconds_count{operation="read", outcome="not_found"}': ["", "0+10x60"],
    },
  ],
  [
    "PanoramaDiskFull",
    "ticket",
    "20m",
    ONE,
    { panorama_disk_free_bytes: ["1e9x30", "1e10x30"], panorama_disk_bytes: "1e11x30" },
  ],
  [
    "PanoramaBackupOld",
    "ticket",
    "20m",
    "",
    { panorama_backup_age_seconds: "130000x30", 'panorama_backup_age_seconds{instance="b"}': ["", "3600x30"] },
  ],
  [
    "PanoramaCertificateExpires",
    "ticket",
    "20m",
    "",
    { panorama_certificate_expires_timestamp_seconds: ["1000000x30", "2000000x30"] },
  ],
  [
    "PanoramaImagesNotStored",
    "ticket",
    "20m",
    "",
    { 'panorama_tasks_oldest_seconds{state="succeeded"}': ["4000x60", "40x60"] },
  ],
  [
    "PanoramaImagesNotErased",
    "ticket",
    "20m",
    "",
    { 'panorama_tasks_oldest_seconds{state="erasing"}': ["180000x60", "4000x60"] },
  ],
  ["PanoramaOrdersPending", "ticket", "20m", "", { panorama_pending_orders_oldest_seconds: ["90000x60", "4000x60"] }],
  ["PanoramaWebhooksOverdue", "ticket", "10m", "", { panorama_webhook_deliveries_overdue_seconds: ["200x30", "2x30"] }],
  ["PanoramaMailFailing", "ticket", "30m", ONE, { panorama_mail_failures_total: ["0x10 1x60", "1x70"] }],
  ["PanoramaTasksUnreadable", "ticket", "45m", ONE, { panorama_tasks_unreadable_total: ["0x5 2x60", "2x60"] }],
  ["PanoramaOrphans", "ticket", "50m", "", { panorama_possible_orphans_total: ["0+1x60", "0x20 2x60"] }],
  [
    "PanoramaVersionsMixed",
    "ticket",
    "130m",
    "",
    {
      'panorama_build_info{version="1.0.0"}': "1x150",
      'panorama_build_info{instance="b", version="1.1.0"}': ["1x150", ""],
      'panorama_build_info{instance="b", version="1.0.0"}': ["", "1x150"],
    },
  ],
];

/** The series `up` or `up{state="busy"}` of the instance `a`, unless it names another one. */
const inputSeries = (planted: string, values: string) => {
  const [, metric = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(planted) ?? [];
  const own = labels.includes("instance=") ? [labels, 'job="panorama"'] : [ONE, labels];
  return { series: `${metric}{${own.filter(Boolean).join(", ")}}`, values };
};

/** The content of a file for `promtool test rules`: each alert fires, and stays quiet in a harmless case. */
export const alertTests = (rules: string): string => {
  const tests = PLANTED.flatMap(([alert, severity, after, labels, series]) => {
    const selected = `alertname="${alert}", alertstate="firing"`;
    const firing = [selected, labels, `severity="${severity}"`].filter(Boolean).join(", ");
    return [[{ labels: `ALERTS{${firing}}`, value: 1 }], []].map((expected, index) => ({
      name: `${alert} ${index === 0 ? "fires" : "stays quiet"}`,
      interval: "1m",
      input_series: Object.entries(series)
        .map(([planted, values]) => inputSeries(planted, typeof values === "string" ? values : (values[index] ?? "")))
        .filter(({ values }) => values !== ""),
      promql_expr_test: [{ expr: `ALERTS{${selected}}`, eval_time: after, exp_samples: expected }],
    }));
  });
  return JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests });
};
