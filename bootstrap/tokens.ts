import type { Result } from "neverthrow";
import type { Logger } from "pino";
import type { HttpServer } from "../adapters/http/http-server.js";
import type { Check } from "../adapters/http/operations-routes.js";
import type { InProcessEventSignals } from "../adapters/memory/in-process-event-signals.js";
import type { InProcessTaskSignals } from "../adapters/memory/in-process-task-signals.js";
import type { Metrics } from "../adapters/observability/metrics.js";
import type { ProviderCircuits } from "../adapters/observability/provider-circuits.js";
import type { RequestObserver } from "../adapters/observability/request-observer.js";
import type { ExclusiveLock } from "../adapters/persistence/exclusive-lock.js";
import type { PostgresDatabase } from "../adapters/persistence/postgres-database.js";
import type { SqliteDatabase } from "../adapters/persistence/sqlite-database.js";
import type { WorkSchedule } from "../adapters/scheduling/work-schedule.js";
import type { FilesystemObjectStorage } from "../adapters/storage/filesystem-object-storage.js";
import type { GcsObjectStorage } from "../adapters/storage/gcs-object-storage.js";
import type { Page } from "../adapters/web-page/page.js";
import type { HttpWebhookSender } from "../adapters/webhooks/http-webhook-sender.js";
import type { admitApiRequest } from "../application/accounts/admit-api-request.js";
import type { checkPasswordLink } from "../application/accounts/check-password-link.js";
import type { createApiKey } from "../application/accounts/create-api-key.js";
import type { findSession } from "../application/accounts/find-session.js";
import type { hasAccounts } from "../application/accounts/has-accounts.js";
import type { keyUses } from "../application/accounts/key-uses.js";
import type { listApiKeys } from "../application/accounts/list-api-keys.js";
import type { logIn } from "../application/accounts/log-in.js";
import type { logOut } from "../application/accounts/log-out.js";
import type { openAccount } from "../application/accounts/open-account.js";
import type { readAccount } from "../application/accounts/read-account.js";
import type { revokeAnyApiKey } from "../application/accounts/revoke-any-api-key.js";
import type { revokeApiKey } from "../application/accounts/revoke-api-key.js";
import type { sendPasswordLink } from "../application/accounts/send-password-link.js";
import type { setLowBalance } from "../application/accounts/set-low-balance.js";
import type { setPassword } from "../application/accounts/set-password.js";
import type { setPasswordByLink } from "../application/accounts/set-password-by-link.js";
import type { signUp } from "../application/accounts/sign-up.js";
import type { checkGeneratedImages } from "../application/background/check-generated-images.js";
import type { deleteExpiredReferences } from "../application/background/delete-expired-references.js";
import type { eraseDeletedPanoramas } from "../application/background/erase-deleted-panoramas.js";
import type { keepFinishedImages } from "../application/background/keep-finished-images.js";
import type { receiveProviderWebhook } from "../application/background/receive-provider-webhook.js";
import type { settleSubmittedTasks } from "../application/background/settle-submitted-tasks.js";
import type { startQueuedTasks } from "../application/background/start-queued-tasks.js";
import type { sweep } from "../application/background/sweep.js";
import type { watchWaitedTasks } from "../application/background/watch-waited-tasks.js";
import type { buyCredits } from "../application/credits/buy-credits.js";
import type { createOrder } from "../application/credits/create-order.js";
import type { payOrder } from "../application/credits/pay-order.js";
import type { readCreditTotals } from "../application/credits/read-credit-totals.js";
import type { readCredits } from "../application/credits/read-credits.js";
import type { readLedger } from "../application/credits/read-ledger.js";
import type { receivePaymentWebhook } from "../application/credits/receive-payment-webhook.js";
import type { verifyLedger } from "../application/credits/verify-ledger.js";
import type { streamEvents } from "../application/events/stream-events.js";
import type { watchStreams } from "../application/events/watch-streams.js";
import type { cancelTask } from "../application/panoramas/cancel-task.js";
import type { changeVisibility } from "../application/panoramas/change-visibility.js";
import type { checkUpload } from "../application/panoramas/check-upload.js";
import type { createPanorama } from "../application/panoramas/create-panorama.js";
import type { deletePanorama } from "../application/panoramas/delete-panorama.js";
import type { findOwnPanorama } from "../application/panoramas/find-own-panorama.js";
import type { findPublicPanorama } from "../application/panoramas/find-public-panorama.js";
import type { GenerationTime } from "../application/panoramas/generation-time.js";
import type { listPublicPanoramas } from "../application/panoramas/list-public-panoramas.js";
import type { listTasks } from "../application/panoramas/list-tasks.js";
import type { retryFailedImages } from "../application/panoramas/retry-failed-images.js";
import type { retryImage } from "../application/panoramas/retry-image.js";
import type { uploadImages } from "../application/panoramas/upload-images.js";
import type { waitForTask } from "../application/panoramas/wait-for-task.js";
import type { AccountStore } from "../application/ports/account-store.js";
import type { ApiKeyStore } from "../application/ports/api-key-store.js";
import type { ApiRequests } from "../application/ports/api-requests.js";
import type { Clock } from "../application/ports/clock.js";
import type { DeliveryStore } from "../application/ports/delivery-store.js";
import type { EndpointStore } from "../application/ports/endpoint-store.js";
import type { EventStore } from "../application/ports/event-store.js";
import type { GenerationProvider } from "../application/ports/generation-provider.js";
import type { Ids } from "../application/ports/ids.js";
import type { Imaging } from "../application/ports/imaging.js";
import type { LedgerStore } from "../application/ports/ledger-store.js";
import type { Mail } from "../application/ports/mail.js";
import type { OrderStore } from "../application/ports/order-store.js";
import type { PasswordLinkStore } from "../application/ports/password-link-store.js";
import type { Payments } from "../application/ports/payments.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";
import type { RateLimits } from "../application/ports/rate-limits.js";
import type { ReferenceStore } from "../application/ports/reference-store.js";
import type { Reporter } from "../application/ports/reporter.js";
import type { Secrets } from "../application/ports/secrets.js";
import type { SessionStore } from "../application/ports/session-store.js";
import type { TaskStore } from "../application/ports/task-store.js";
import type { createEndpoint } from "../application/webhooks/create-endpoint.js";
import type { deleteEndpoint } from "../application/webhooks/delete-endpoint.js";
import type { deleteOldEvents } from "../application/webhooks/delete-old-events.js";
import type { deliverEvents } from "../application/webhooks/deliver-events.js";
import type { enableEndpoint } from "../application/webhooks/enable-endpoint.js";
import type { ensureDefaultEndpoint } from "../application/webhooks/ensure-default-endpoint.js";
import type { listDeliveries } from "../application/webhooks/list-deliveries.js";
import type { listEndpoints } from "../application/webhooks/list-endpoints.js";
import type { resendDelivery } from "../application/webhooks/resend-delivery.js";
import type { rotateEndpointSecret } from "../application/webhooks/rotate-endpoint-secret.js";
import type { Config } from "./config.js";
import { token } from "./provide.js";

/** The token of a use case: the type of what `Create` returns when it gets its ports. */
const useCase = <Create extends (...ports: never[]) => unknown>(name: string) => token<ReturnType<Create>>(name);

type WorkName =
  | "start"
  | "settle"
  | "check"
  | "keep"
  | "sweep"
  | "erase"
  | "watch"
  | "expire"
  | "uses"
  | "clean"
  | "deliver"
  | "forget"
  | "streams";

/** Every part of the service, in the order of bootstrap/modules. */
export const tokens = {
  config: token<Config>("config"),

  // system
  clock: token<Clock>("clock"),
  ids: token<Ids>("ids"),
  secrets: token<Secrets>("secrets"),
  signals: token<InProcessTaskSignals>("signals"),
  generationTime: token<GenerationTime>("generationTime"),
  eventSignals: token<InProcessEventSignals>("eventSignals"),

  // persistence
  database: token<SqliteDatabase | PostgresDatabase>("database"),
  migrateDatabase: token<() => Promise<void>>("migrateDatabase"),
  /** Copies the SQLite database to a file. */
  backupDatabase: token<(target: string) => Promise<Result<void, string>>>("backupDatabase"),
  /** Held while `serve` runs on SQLite: rate limits and more are counted in memory, so two processes would not be exact. */
  serveLock: token<ExclusiveLock | undefined>("serveLock"),
  tasks: token<TaskStore>("tasks"),
  accounts: token<AccountStore>("accounts"),
  orders: token<OrderStore>("orders"),
  keys: token<ApiKeyStore>("keys"),
  ledger: token<LedgerStore>("ledger"),
  endpoints: token<EndpointStore>("endpoints"),
  deliveries: token<DeliveryStore>("deliveries"),
  events: token<EventStore>("events"),
  references: token<ReferenceStore>("references"),
  sessions: token<SessionStore>("sessions"),
  links: token<PasswordLinkStore>("links"),
  apiRequests: token<ApiRequests>("apiRequests"),
  /** `clean` deletes expired counters; absent where the implementation needs no cleaning. */
  rateLimits: token<RateLimits & { clean?(): Promise<void> }>("rateLimits"),

  // accounts
  admitApiRequest: useCase<typeof admitApiRequest>("admitApiRequest"),
  hasAccounts: useCase<typeof hasAccounts>("hasAccounts"),
  openAccount: useCase<typeof openAccount>("openAccount"),
  signUp: useCase<typeof signUp>("signUp"),
  logIn: useCase<typeof logIn>("logIn"),
  logOut: useCase<typeof logOut>("logOut"),
  setPassword: useCase<typeof setPassword>("setPassword"),
  sendPasswordLink: useCase<typeof sendPasswordLink>("sendPasswordLink"),
  checkPasswordLink: useCase<typeof checkPasswordLink>("checkPasswordLink"),
  setPasswordByLink: useCase<typeof setPasswordByLink>("setPasswordByLink"),
  findSession: useCase<typeof findSession>("findSession"),
  readAccount: useCase<typeof readAccount>("readAccount"),
  createApiKey: useCase<typeof createApiKey>("createApiKey"),
  listApiKeys: useCase<typeof listApiKeys>("listApiKeys"),
  revokeApiKey: useCase<typeof revokeApiKey>("revokeApiKey"),
  revokeAnyApiKey: useCase<typeof revokeAnyApiKey>("revokeAnyApiKey"),
  keyUses: useCase<typeof keyUses>("keyUses"),
  setLowBalance: useCase<typeof setLowBalance>("setLowBalance"),

  // credits
  payments: token<Payments>("payments"),
  readCredits: useCase<typeof readCredits>("readCredits"),
  readCreditTotals: useCase<typeof readCreditTotals>("readCreditTotals"),
  createOrder: useCase<typeof createOrder>("createOrder"),
  payOrder: useCase<typeof payOrder>("payOrder"),
  buyCredits: useCase<typeof buyCredits>("buyCredits"),
  receivePaymentWebhook: useCase<typeof receivePaymentWebhook>("receivePaymentWebhook"),
  readLedger: useCase<typeof readLedger>("readLedger"),
  verifyLedger: useCase<typeof verifyLedger>("verifyLedger"),

  // panoramas
  createPanorama: useCase<typeof createPanorama>("createPanorama"),
  waitForTask: useCase<typeof waitForTask>("waitForTask"),
  listTasks: useCase<typeof listTasks>("listTasks"),
  findOwnPanorama: useCase<typeof findOwnPanorama>("findOwnPanorama"),
  findPublicPanorama: useCase<typeof findPublicPanorama>("findPublicPanorama"),
  listPublicPanoramas: useCase<typeof listPublicPanoramas>("listPublicPanoramas"),
  changeVisibility: useCase<typeof changeVisibility>("changeVisibility"),
  cancelTask: useCase<typeof cancelTask>("cancelTask"),
  deletePanorama: useCase<typeof deletePanorama>("deletePanorama"),
  retryImage: useCase<typeof retryImage>("retryImage"),
  retryFailedImages: useCase<typeof retryFailedImages>("retryFailedImages"),
  checkUpload: useCase<typeof checkUpload>("checkUpload"),
  uploadImages: useCase<typeof uploadImages>("uploadImages"),

  // webhooks, events
  streamEvents: useCase<typeof streamEvents>("streamEvents"),
  watchStreams: useCase<typeof watchStreams>("watchStreams"),
  ensureDefaultEndpoint: useCase<typeof ensureDefaultEndpoint>("ensureDefaultEndpoint"),
  createEndpoint: useCase<typeof createEndpoint>("createEndpoint"),
  listEndpoints: useCase<typeof listEndpoints>("listEndpoints"),
  deleteEndpoint: useCase<typeof deleteEndpoint>("deleteEndpoint"),
  rotateEndpointSecret: useCase<typeof rotateEndpointSecret>("rotateEndpointSecret"),
  enableEndpoint: useCase<typeof enableEndpoint>("enableEndpoint"),
  listDeliveries: useCase<typeof listDeliveries>("listDeliveries"),
  resendDelivery: useCase<typeof resendDelivery>("resendDelivery"),

  // observability
  logger: token<Logger>("logger"),
  metrics: token<Metrics>("metrics"),
  reporter: token<Reporter>("reporter"),
  requestObserver: token<RequestObserver>("requestObserver"),
  providerCircuits: token<ProviderCircuits>("providerCircuits"),
  /** What `GET /readyz` checks. */
  readinessChecks: token<() => Promise<readonly Check[]>>("readinessChecks"),

  // mail
  /** `close` waits for e-mails that are being sent; absent where none are sent. */
  mail: token<Mail & { close?(): Promise<void> }>("mail"),

  // storage
  storage: token<FilesystemObjectStorage | GcsObjectStorage>("storage"),
  imaging: token<Imaging>("imaging"),

  // provider
  provider: token<GenerationProvider>("provider"),
  /** By provider name. */
  providerWebhooks: token<ReadonlyMap<string, ProviderWebhooks>>("providerWebhooks"),

  // background
  startQueuedTasks: useCase<typeof startQueuedTasks>("startQueuedTasks"),
  settleSubmittedTasks: useCase<typeof settleSubmittedTasks>("settleSubmittedTasks"),
  checkGeneratedImages: useCase<typeof checkGeneratedImages>("checkGeneratedImages"),
  keepFinishedImages: useCase<typeof keepFinishedImages>("keepFinishedImages"),
  sweep: useCase<typeof sweep>("sweep"),
  eraseDeletedPanoramas: useCase<typeof eraseDeletedPanoramas>("eraseDeletedPanoramas"),
  deleteExpiredReferences: useCase<typeof deleteExpiredReferences>("deleteExpiredReferences"),
  watchWaitedTasks: useCase<typeof watchWaitedTasks>("watchWaitedTasks"),
  webhookSender: token<HttpWebhookSender>("webhookSender"),
  deliverEvents: useCase<typeof deliverEvents>("deliverEvents"),
  deleteOldEvents: useCase<typeof deleteOldEvents>("deleteOldEvents"),
  schedule: token<WorkSchedule<WorkName>>("schedule"),
  receiveProviderWebhook: useCase<typeof receiveProviderWebhook>("receiveProviderWebhook"),

  // web, http
  pages: token<readonly Page[]>("pages"),
  httpServer: token<HttpServer>("httpServer"),
} as const;
