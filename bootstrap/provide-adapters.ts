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
import { SqlApiKeyStore } from "../adapters/persistence/sql-api-key-store.js";
import { SqlLedgerStore } from "../adapters/persistence/sql-ledger-store.js";
import { SqlOrderStore } from "../adapters/persistence/sql-order-store.js";
import { SqlSessionStore } from "../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../adapters/persistence/sql-task-store.js";
import { InProcessTaskSignals } from "../adapters/scheduling/in-process-task-signals.js";
import { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import { NodeSecrets } from "../adapters/system/node-secrets.js";
import { RandomIds } from "../adapters/system/random-ids.js";
import { SystemClock } from "../adapters/system/system-clock.js";
import type { GcsConfig } from "./config.js";
import { provide } from "./provide.js";
import { tokens } from "./tokens.js";

export const provideAdapters = (container: Container): void => {
  provide(container, tokens.clock, [], () => new SystemClock());
  provide(container, tokens.ids, [], () => new RandomIds());
  provide(container, tokens.secrets, [], () => new NodeSecrets());
  provide(container, tokens.signals, [], () => new InProcessTaskSignals());

  provide(container, tokens.logger, [tokens.config], ({ logLevel }) => createLogger(logLevel, destination(2)));
  provide(container, tokens.metrics, [], () => new Metrics());
  provide(
    container,
    tokens.reporter,
    [tokens.logger, tokens.metrics],
    (logger, metrics) => new OperationalReporter(logger, metrics),
  );
  provide(
    container,
    tokens.providerCircuits,
    [tokens.logger, tokens.metrics],
    (logger, metrics) => new ProviderCircuits(logger, metrics),
  );

  provide(
    container,
    tokens.database,
    [tokens.config],
    async ({ databaseUrl, databaseConnections, dataDir }) => {
      await mkdir(dataDir, { recursive: true });
      if (databaseUrl !== undefined) return openPostgresDatabase(databaseUrl, databaseConnections);
      return openDatabase(join(dataDir, "panorama.sqlite"));
    },
    (database) => database.close(),
  );
  provide(container, tokens.tasks, [tokens.database], (database) => new SqlTaskStore(database));
  provide(container, tokens.accounts, [tokens.database], (database) => new SqlAccountStore(database));
  provide(container, tokens.orders, [tokens.database], (database) => new SqlOrderStore(database));
  provide(container, tokens.keys, [tokens.database], (database) => new SqlApiKeyStore(database));
  provide(container, tokens.ledger, [tokens.database], (database) => new SqlLedgerStore(database));
  provide(container, tokens.sessions, [tokens.database], (database) => new SqlSessionStore(database));

  // Several instances count together; the one instance of a SQLite file counts by itself.
  provide(container, tokens.rateLimits, [tokens.database, tokens.clock], (database, clock) =>
    database.dialect === "postgresql" ? new PostgresRateLimits(database, clock) : new MemoryRateLimits(clock),
  );

  provide(container, tokens.storage, [tokens.config], ({ dataDir, storage }) =>
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
