import type { Logger } from "pino";
import type { HttpServer } from "../adapters/http/http-server.js";
import type { Metrics } from "../adapters/observability/metrics.js";
import type { ProviderCircuits } from "../adapters/observability/provider-circuits.js";
import type { Database } from "../adapters/persistence/database.js";
import type { PaintPool } from "../adapters/provider/local/paint-pool.js";
import type { PublicFetch } from "../adapters/provider/public-fetch.js";
import type { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import type { InProcessTaskSignals } from "../adapters/scheduling/in-process-task-signals.js";
import type { WorkSchedule } from "../adapters/scheduling/work-schedule.js";
import type { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import type { GcsObjectStorage } from "../adapters/storage/gcs-object-storage.js";
import type { Page } from "../adapters/web-page/page.js";
import type { createApiKey } from "../application/accounts/create-api-key.js";
import type { openAccount } from "../application/accounts/open-account.js";
import type { createOrder } from "../application/credits/create-order.js";
import type { payOrder } from "../application/credits/pay-order.js";
import type { verifyLedger } from "../application/credits/verify-ledger.js";
import type { CreatePanorama } from "../application/panoramas/create-panorama.js";
import type { retryImage } from "../application/panoramas/retry-image.js";
import type { AccountStore } from "../application/ports/account-store.js";
import type { ApiKeyStore } from "../application/ports/api-key-store.js";
import type { Clock } from "../application/ports/clock.js";
import type { GenerationProvider } from "../application/ports/generation-provider.js";
import type { Ids } from "../application/ports/ids.js";
import type { Imaging } from "../application/ports/imaging.js";
import type { LedgerStore } from "../application/ports/ledger-store.js";
import type { OrderStore } from "../application/ports/order-store.js";
import type { Payments } from "../application/ports/payments.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";
import type { RateLimits } from "../application/ports/rate-limits.js";
import type { Reporter } from "../application/ports/reporter.js";
import type { Secrets } from "../application/ports/secrets.js";
import type { SessionStore } from "../application/ports/session-store.js";
import type { TaskStore } from "../application/ports/task-store.js";
import type { Config } from "./config.js";
import { token } from "./provide.js";

type BackgroundWork = (stopping?: AbortSignal) => Promise<number>;

/** The parts of the service. */
export const tokens = {
  config: token<Config>("Config"),
  logger: token<Logger>("Logger"),
  metrics: token<Metrics>("Metrics"),

  clock: token<Clock>("Clock"),
  ids: token<Ids>("Ids"),
  secrets: token<Secrets>("Secrets"),
  imaging: token<Imaging>("Imaging"),
  reporter: token<Reporter>("Reporter"),
  /** Some need to be cleaned now and then. */
  rateLimits: token<RateLimits & { clean?(): Promise<void> }>("RateLimits"),
  signals: token<InProcessTaskSignals>("TaskSignals"),
  storage: token<FilesystemObjectStorage | GcsObjectStorage>("ObjectStorage"),

  database: token<Database>("Database"),
  tasks: token<TaskStore>("TaskStore"),
  accounts: token<AccountStore>("AccountStore"),
  orders: token<OrderStore>("OrderStore"),
  keys: token<ApiKeyStore>("ApiKeyStore"),
  ledger: token<LedgerStore>("LedgerStore"),
  sessions: token<SessionStore>("SessionStore"),
  payments: token<Payments>("Payments"),

  publicFetch: token<PublicFetch>("PublicFetch"),
  paintPool: token<PaintPool>("PaintPool"),
  upstreamHttp: token<UpstreamHttp>("UpstreamHttp"),
  providerCircuits: token<ProviderCircuits>("ProviderCircuits"),
  provider: token<GenerationProvider>("GenerationProvider"),
  /** By the provider's name. */
  providerWebhooks: token<ReadonlyMap<string, ProviderWebhooks>>("ProviderWebhooks"),

  createPanorama: token<CreatePanorama>("createPanorama"),
  start: token<BackgroundWork>("startQueuedTasks"),
  settle: token<BackgroundWork>("settleSubmittedTasks"),
  keep: token<BackgroundWork>("keepFinishedImages"),
  sweep: token<BackgroundWork>("sweep"),
  openAccount: token<ReturnType<typeof openAccount>>("openAccount"),
  createOrder: token<ReturnType<typeof createOrder>>("createOrder"),
  payOrder: token<ReturnType<typeof payOrder>>("payOrder"),
  createApiKey: token<ReturnType<typeof createApiKey>>("createApiKey"),
  verifyLedger: token<ReturnType<typeof verifyLedger>>("verifyLedger"),
  retryImage: token<ReturnType<typeof retryImage>>("retryImage"),

  schedule: token<WorkSchedule<WorkName>>("WorkSchedule"),
  pages: token<readonly Page[]>("Pages"),
  httpServer: token<HttpServer>("HttpServer"),
} as const;

type WorkName = "start" | "settle" | "keep" | "sweep" | "clean";
