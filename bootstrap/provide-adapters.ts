import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Container } from "inversify";
import { destination } from "pino";
import { MemoryRateLimits } from "../adapters/memory/memory-rate-limits.js";
import { createLogger } from "../adapters/observability/logger.js";
import { Metrics } from "../adapters/observability/metrics.js";
import { ProviderCircuits } from "../adapters/observability/provider-circuits.js";
import { OperationalReporter } from "../adapters/observability/reporter.js";
import { openDatabase } from "../adapters/persistence/database.js";
import { openPostgresDatabase } from "../adapters/persistence/postgres-database.js";
import { PostgresRateLimits } from "../adapters/persistence/postgres-rate-limits.js";
import { SqlAccountStore } from "../adapters/persistence/sql-account-store.js";
import { SqlSessionStore } from "../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../adapters/persistence/sql-task-store.js";
import { InProcessTaskSignals } from "../adapters/scheduling/in-process-task-signals.js";
import { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import { NodeSecrets } from "../adapters/system/node-secrets.js";
import { RandomIds } from "../adapters/system/random-ids.js";
import { SystemClock } from "../adapters/system/system-clock.js";
import type { GcsConfig } from "./config.js";
import { provide } from "./provide.js";
import { T } from "./tokens.js";

export const provideAdapters = (container: Container): void => {
  provide(container, T.clock, [], () => new SystemClock());
  provide(container, T.ids, [], () => new RandomIds());
  provide(container, T.secrets, [], () => new NodeSecrets());
  provide(container, T.signals, [], () => new InProcessTaskSignals());

  provide(container, T.logger, [T.config], ({ logLevel }) => createLogger(logLevel, destination(2)));
  provide(container, T.metrics, [], () => new Metrics());
  provide(container, T.reporter, [T.logger, T.metrics], (logger, metrics) => new OperationalReporter(logger, metrics));
  provide(
    container,
    T.providerCircuits,
    [T.logger, T.metrics],
    (logger, metrics) => new ProviderCircuits(logger, metrics),
  );

  provide(
    container,
    T.database,
    [T.config],
    async ({ databaseUrl, databaseConnections, dataDir }) => {
      await mkdir(dataDir, { recursive: true });
      if (databaseUrl !== undefined) return openPostgresDatabase(databaseUrl, databaseConnections);
      return openDatabase(join(dataDir, "panorama.sqlite"));
    },
    (database) => database.close(),
  );
  provide(container, T.tasks, [T.database], (database) => new SqlTaskStore(database));
  provide(container, T.accounts, [T.database], (database) => new SqlAccountStore(database));
  provide(container, T.sessions, [T.database], (database) => new SqlSessionStore(database));

  // Several instances count together; the one instance of a SQLite file counts by itself.
  provide(container, T.rateLimits, [T.database, T.clock], (database, clock) =>
    database.dialect === "postgresql" ? new PostgresRateLimits(database, clock) : new MemoryRateLimits(clock),
  );

  provide(container, T.storage, [T.config], ({ dataDir, storage }) =>
    storage.kind === "gcs"
      ? openBucket(storage)
      : FilesystemObjectStorage.open(join(dataDir, "objects"), storage.assetUrl, storage.referenceUrl),
  );
};

/** Throws if the bucket cannot be used: better at the start than with the first image. */
const openBucket = async (config: GcsConfig) => {
  // Google's client takes a quarter of a second to load, so only who uses it loads it.
  const { GcsObjectStorage } = await import("../adapters/storage/gcs-object-storage.js");
  const bucket = new GcsObjectStorage(config);
  const checked = await bucket.check();
  if (checked.isErr()) throw new Error(`The bucket ${config.bucket} is not usable: ${checked.error.reason}`);
  return bucket;
};
