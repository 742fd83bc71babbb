import type { Logger } from "pino";
import type { Clock } from "../../application/ports/clock.js";
import { sharedFor } from "../system/shared-for.js";
import type { Metrics } from "./metrics.js";

/** Several servers may scrape, and each query for unfinished work reads up to 60,000 rows of indexes. */
const VALID_MILLISECONDS = 10_000;
/** Prometheus waits for 10 s. */
const TIMEOUT_MILLISECONDS = 5_000;

type Unfinished = {
  readonly waiting: number;
  readonly oldest: Date | undefined;
  readonly dueAt: Date | undefined;
};
type Backlog = {
  readonly tasks: ReadonlyMap<string, Unfinished>;
  readonly deliveries: Unfinished;
  readonly pendingOrders: Omit<Unfinished, "dueAt">;
};
type Load = {
  readonly connections: number;
  readonly idleConnections: number;
  readonly connectionsMax: number;
  readonly waiting: number;
};

type Ports = {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "error">;
  /** Unfinished work of all instances (persistence/backlog.ts). */
  readonly readBacklog: () => Promise<Backlog>;
  readonly databaseLoad: () => Load | undefined;
  /** Sets the metrics of this machine. */
  readonly readMachine?: () => Promise<void>;
};

/**
 * The answer to `GET /metrics`. The database is asked at most once in 10 s, however many scrape. While it does not
 * answer, the metrics about unfinished work are absent, and all others are present.
 */
export const scrape = (ports: Ports): (() => Promise<string>) => {
  const { metrics, clock, databaseLoad } = ports;
  const readBacklog = sharedFor(VALID_MILLISECONDS, clock, () => read(ports));
  return async () => {
    const backlog = readBacklog();
    await ports.readMachine?.();
    show(metrics, await backlog, clock.now());
    showLoad(metrics, databaseLoad());
    return metrics.text();
  };
};

const read = async ({ readBacklog, clock, logger }: Ports): Promise<Backlog | undefined> => {
  const answered = new AbortController();
  try {
    const late = clock.sleep(TIMEOUT_MILLISECONDS, answered.signal).then(() => {
      throw new Error(`no answer within ${TIMEOUT_MILLISECONDS} ms`);
    });
    return await Promise.race([readBacklog(), late]);
  } catch (error) {
    logger.error({ event: "database_unavailable", err: error });
    return undefined;
  } finally {
    answered.abort();
  }
};

const show = (metrics: Metrics, backlog: Backlog | undefined, now: Date): void => {
  const secondsSince = (date: Date | undefined): number =>
    date === undefined ? 0 : Math.max(0, now.getTime() - date.getTime()) / 1000;
  metrics.databaseUp.set(backlog === undefined ? 0 : 1);
  for (const gauge of [metrics.tasks, metrics.tasksOldestSeconds, metrics.tasksOverdueSeconds]) gauge.reset();
  for (const gauge of [
    metrics.deliveries,
    metrics.deliveriesOldestSeconds,
    metrics.deliveriesOverdueSeconds,
    metrics.pendingOrders,
    metrics.pendingOrdersOldestSeconds,
  ]) {
    gauge.remove();
  }
  if (backlog === undefined) return;
  for (const [state, { waiting, oldest, dueAt }] of backlog.tasks) {
    metrics.tasks.set({ state }, waiting);
    metrics.tasksOldestSeconds.set({ state }, secondsSince(oldest));
    metrics.tasksOverdueSeconds.set({ state }, secondsSince(dueAt));
  }
  metrics.pendingOrders.set(backlog.pendingOrders.waiting);
  metrics.pendingOrdersOldestSeconds.set(secondsSince(backlog.pendingOrders.oldest));
  metrics.deliveries.set(backlog.deliveries.waiting);
  metrics.deliveriesOldestSeconds.set(secondsSince(backlog.deliveries.oldest));
  metrics.deliveriesOverdueSeconds.set(secondsSince(backlog.deliveries.dueAt));
};

const showLoad = (metrics: Metrics, load: Load | undefined): void => {
  if (load === undefined) return;
  metrics.databaseConnections.set({ state: "idle" }, load.idleConnections);
  metrics.databaseConnections.set({ state: "busy" }, load.connections - load.idleConnections);
  metrics.databaseConnectionsMax.set(load.connectionsMax);
  metrics.databaseWaiting.set(load.waiting);
};
