import type { Result } from "neverthrow";
import type { Logger } from "pino";
import type { HttpServer } from "../adapters/http/http-server.js";
import type { Dependency } from "../adapters/http/routes/operations-routes.js";
import type { SignPicture } from "../adapters/imaging/provenance/sign-picture.js";
import type { SigningPair } from "../adapters/imaging/provenance/signing-pair.js";
import type { AwayLog } from "../adapters/observability/logger.js";
import type { Metrics } from "../adapters/observability/metrics.js";
import type { ProviderCircuits } from "../adapters/observability/provider-circuits.js";
import type { RequestObserver } from "../adapters/observability/request-observer.js";
import type { TaskMetrics } from "../adapters/observability/task-metrics.js";
import type { Tracing } from "../adapters/observability/tracing.js";
import type { Patience } from "../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../adapters/persistence/database/postgres/postgres-database.js";
import type { ExclusiveLock } from "../adapters/persistence/database/schema/exclusive-lock.js";
import type { Comparison, DatabaseClock } from "../adapters/persistence/database/sql/database-clock.js";
import type { SqliteDatabase } from "../adapters/persistence/database/sqlite/sqlite-database.js";
import type { SqlStores } from "../adapters/persistence/sql-stores.js";
import type { CopiedObjects } from "../adapters/storage/copy-objects.js";
import type { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import type { GcsObjectStorage } from "../adapters/storage/gcs-object-storage.js";
import type { S3ObjectStorage } from "../adapters/storage/s3-object-storage.js";
import type { WebSide } from "../adapters/web-page/page.js";
import type { HttpWebhookSender } from "../adapters/webhooks/http-webhook-sender.js";
import type { Application, StoreUseCases } from "../application/create-application.js";
import type { GenerationProvider, ProviderWebhooks } from "../application/ports/generation-provider.js";
import type { Ids } from "../application/ports/ids.js";
import type { Imaging } from "../application/ports/imaging.js";
import type { Mail } from "../application/ports/mail.js";
import type { Payments } from "../application/ports/payments.js";
import type { Reporter } from "../application/ports/reporter.js";
import type { Secrets } from "../application/ports/secrets.js";
import type { EventSignals, TaskSignals } from "../application/ports/signals.js";
import type { Stores } from "../application/ports/stores/stores.js";
import type { Config } from "./config.js";
import { token } from "./provide.js";

/** Every part of the service, in the order of bootstrap/modules. */
export const tokens = {
  config: token<Config>("config"),
  /** True if the SQLite file is created and migrated when it is opened. */
  createsDatabase: token<boolean>("createsDatabase"),
  /** Timeout of statements on PostgreSQL. */
  patience: token<Patience>("patience"),

  // system
  /** The time that all processes on the database decide by. */
  clock: token<DatabaseClock>("clock"),
  /** Receives the difference of this machine's clock. */
  onClockCompared: token<(comparison: Comparison) => void>("onClockCompared"),
  ids: token<Ids>("ids"),
  secrets: token<Secrets>("secrets"),
  signals: token<TaskSignals>("signals"),
  eventSignals: token<EventSignals>("eventSignals"),

  // persistence
  database: token<SqliteDatabase | PostgresDatabase>("database"),
  migrateDatabase: token<() => Promise<void>>("migrateDatabase"),
  /** Copies the SQLite database to a file. */
  backupDatabase: token<(target: string) => Promise<Result<void, string>>>("backupDatabase"),
  /** Copies the SQLite database and the files of the storage to a folder. */
  backupWithObjects: token<(target: string) => Promise<Result<CopiedObjects, string>>>("backupWithObjects"),
  /**
   * Held while `serve` runs on SQLite: rate limits and more are counted in memory, so two processes would not be exact.
   */
  serveLock: token<ExclusiveLock | undefined>("serveLock"),
  stores: token<Stores & Pick<SqlStores, "emailOutbox">>("stores"),

  /** The use cases of the commands. `serve` uses `application`. */
  storeUseCases: token<StoreUseCases>("storeUseCases"),

  // observability
  logger: token<Logger>("logger"),
  metrics: token<Metrics>("metrics"),
  reporter: token<Reporter>("reporter"),
  /** Receives what the stores have committed. */
  taskMetrics: token<Pick<TaskMetrics, keyof TaskMetrics>>("taskMetrics"),
  /** Traces, if the operator has asked for them. */
  tracing: token<Tracing | "off">("tracing"),
  /** The answer to `GET /metrics`. */
  scrape: token<() => Promise<string>>("scrape"),
  /** Logs one line a second while the database is unreachable. */
  awayLog: token<AwayLog>("awayLog"),
  requestObserver: token<RequestObserver>("requestObserver"),
  providerCircuits: token<ProviderCircuits>("providerCircuits"),
  /** Checks of `GET /readyz`. */
  readinessChecks: token<() => Promise<readonly Dependency[]>>("readinessChecks"),

  // mail, payments, webhooks
  /** `close` waits for e-mails that are being sent; absent where none are sent. */
  mail: token<Mail & { close?(): Promise<void> }>("mail"),
  payments: token<Payments>("payments"),
  webhookSender: token<HttpWebhookSender>("webhookSender"),

  // storage
  storage: token<FilesystemObjectStorage | GcsObjectStorage | S3ObjectStorage>("storage"),
  imaging: token<Imaging>("imaging"),
  signingPair: token<SigningPair>("signingPair"),
  signPicture: token<SignPicture>("signPicture"),

  // provider
  provider: token<GenerationProvider>("provider"),
  /** By provider name. */
  providerWebhooks: token<ReadonlyMap<string, ProviderWebhooks>>("providerWebhooks"),

  application: token<Application>("application"),

  // web, http
  web: token<WebSide>("web"),
  httpServer: token<HttpServer>("httpServer"),
} as const;
