import { ContainerModule } from "inversify";
import type { Logger } from "pino";
import { ClockWatch, clockCheck } from "../../adapters/observability/clock-watch.js";
import { LogDestination } from "../../adapters/observability/log-destination.js";
import { AwayLog, createLogger } from "../../adapters/observability/logger.js";
import { machineMetrics } from "../../adapters/observability/machine-metrics.js";
import { Metrics } from "../../adapters/observability/metrics.js";
import { ProviderCircuits } from "../../adapters/observability/provider-circuits.js";
import { OperationalReporter } from "../../adapters/observability/reporter.js";
import { RequestObserver } from "../../adapters/observability/request-observer.js";
import { scrape } from "../../adapters/observability/scrape.js";
import { storageCheck } from "../../adapters/observability/storage-check.js";
import { TaskMetrics } from "../../adapters/observability/task-metrics.js";
import type { Tracing } from "../../adapters/observability/tracing.js";
import type { Database } from "../../adapters/persistence/database/sql/database.js";
import { readBacklog } from "../../adapters/persistence/tasks/backlog.js";
import { StoreFull } from "../../application/ports/stores/store-errors.js";
import { ConfigurationError } from "../command-error.js";
import type { Config } from "../config.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";
import { panoramaVersion } from "../version.js";

/** Log, metrics and readiness. */
export const observability = new ContainerModule(({ bind, rebind }) => {
  const { config, clock, logger, metrics, tracing, database, providerCircuits, awayLog } = tokens;

  provide(bind, tokens.logger, { config, metrics }, ({ config, metrics }) =>
    createLogger(config.logLevel, new LogDestination(STDERR, () => metrics.logLinesLost.inc())),
  );
  provide(bind, awayLog, { logger }, ({ logger }) => new AwayLog(logger));
  provide(bind, tokens.metrics, {}, () => new Metrics({ version: panoramaVersion(), node: process.version }));
  provide(rebind, tokens.taskMetrics, { metrics, clock }, ({ metrics, clock }) => new TaskMetrics(metrics, clock));
  provide(rebind, tokens.onClockCompared, { logger, metrics }, ({ logger, metrics }) => {
    const watch = new ClockWatch(logger, metrics);
    return (comparison) => watch.compared(comparison);
  });
  provide(bind, tokens.scrape, { config, database, logger, metrics, clock }, ({ config, database, ...ports }) =>
    scrape({
      ...ports,
      readMachine: machineMetrics(ports, config),
      readBacklog: async () => {
        const backlog = await readBacklog(database.sql, ports.clock.now());
        // With Stripe an operator confirms none: without a checkout are those for which Stripe had no answer.
        return config.stripe === undefined ? backlog : { ...backlog, pendingOrders: { waiting: 0, oldest: undefined } };
      },
      databaseLoad: () => database.load,
    }),
  );
  provide(rebind, tokens.tracing, { config }, openTracing).onDeactivation((tracing) => unlessOff(tracing)?.close());
  provide(
    rebind,
    tokens.reporter,
    { logger, metrics, tracing, awayLog },
    ({ logger, metrics, tracing, awayLog }) => new OperationalReporter(logger, metrics, unlessOff(tracing), awayLog),
  );
  provide(
    bind,
    tokens.requestObserver,
    { logger, metrics, tracing, awayLog },
    ({ logger, metrics, tracing, awayLog }) => new RequestObserver(logger, metrics, unlessOff(tracing), awayLog),
  );
  provide(
    bind,
    tokens.providerCircuits,
    { logger, metrics },
    ({ logger, metrics }) => new ProviderCircuits(logger, metrics),
  );
  provide(
    bind,
    tokens.readinessChecks,
    { database, logger, awayLog, providerCircuits, storage: tokens.storage, ids: tokens.ids, clock: tokens.clock },
    ({ database, providerCircuits, awayLog, ...ports }) => {
      const checkStorage = storageCheck(ports);
      return async () => [
        ...(await Promise.all([checkDatabase(database, ports.logger, awayLog), checkStorage()])),
        // On SQLite there is no other clock.
        ...(database.dialect === "postgresql" ? [clockCheck(ports.clock.wallAheadMilliseconds())] : []),
        ...providerCircuits.checks(),
      ];
    },
  );
});

const STDERR = 2;

const unlessOff = (tracing: Tracing | "off"): Tracing | undefined => (tracing === "off" ? undefined : tracing);

/** The packages of OpenTelemetry are loaded only where traces are wanted. */
const openTracing = async ({ config: { otlpEndpoint } }: { readonly config: Config }): Promise<Tracing | "off"> => {
  if (otlpEndpoint === undefined) return "off";
  const { Tracing } = await import("../../adapters/observability/tracing.js").catch((error: unknown) => {
    throw new ConfigurationError(
      "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed: install the optional dependencies, or leave the variable out.",
      { cause: error },
    );
  });
  return new Tracing(otlpEndpoint, panoramaVersion());
};

const checkDatabase = async (database: Database, logger: Logger, away: AwayLog) => {
  try {
    await database.ping();
    return { name: "database", ok: true, detail: "The database answers." };
  } catch (error) {
    if (!away.logIfAway(error)) logger.error({ event: "database_unavailable", err: error });
    if (error instanceof StoreFull) return { name: "database", ok: false, detail: "The disk of the database is full." };
    return { name: "database", ok: false, detail: "The database does not answer. See the log for the error." };
  }
};
