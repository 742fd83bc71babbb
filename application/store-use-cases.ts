import { admitApiRequest } from "./accounts/admit-api-request.js";
import { checkPasswordLink } from "./accounts/check-password-link.js";
import { createApiKey } from "./accounts/create-api-key.js";
import { findSession } from "./accounts/find-session.js";
import { hasAccounts } from "./accounts/has-accounts.js";
import { listApiKeys } from "./accounts/list-api-keys.js";
import { logIn } from "./accounts/log-in.js";
import { logOut } from "./accounts/log-out.js";
import { openAccount } from "./accounts/open-account.js";
import { readAccount } from "./accounts/read-account.js";
import { revokeAnyApiKey } from "./accounts/revoke-any-api-key.js";
import { revokeApiKey } from "./accounts/revoke-api-key.js";
import { setLowBalance } from "./accounts/set-low-balance.js";
import { setPassword } from "./accounts/set-password.js";
import { setPasswordByLink } from "./accounts/set-password-by-link.js";
import { signUp } from "./accounts/sign-up.js";
import type { ApplicationSettings } from "./application-settings.js";
import { createOrder } from "./credits/create-order.js";
import { payOrder } from "./credits/pay-order.js";
import { readCreditTotals } from "./credits/read-credit-totals.js";
import { readCredits } from "./credits/read-credits.js";
import { readLedger } from "./credits/read-ledger.js";
import { verifyLedger } from "./credits/verify-ledger.js";
import { adjustCredits } from "./operators/adjust-credits.js";
import { changeKeyLimits } from "./operators/change-key-limits.js";
import { closeAccount } from "./operators/close-account.js";
import { confirmRetention, readRetention } from "./operators/confirm-retention.js";
import { invite } from "./operators/invite.js";
import { recordAction } from "./operators/record-action.js";
import { changeVisibility } from "./panoramas/change-visibility.js";
import { checkUpload } from "./panoramas/check-upload.js";
import { countAhead } from "./panoramas/count-ahead.js";
import { findOwnPanorama } from "./panoramas/find-own-panorama.js";
import { findPublicPanorama } from "./panoramas/find-public-panorama.js";
import { listPublicPanoramas } from "./panoramas/list-public-panoramas.js";
import { listTasks } from "./panoramas/list-tasks.js";
import { readTask } from "./panoramas/read-task.js";
import { retryFailedImages } from "./panoramas/retry-failed-images.js";
import { retryImage } from "./panoramas/retry-image.js";
import { searchPublicPanoramas } from "./panoramas/search-public-panoramas.js";
import type { AccountStore } from "./ports/account-store.js";
import type { ApiKeyStore } from "./ports/api-key-store.js";
import type { ApiRequests } from "./ports/api-requests.js";
import type { Clock } from "./ports/clock.js";
import type { DeliveryStore } from "./ports/delivery-store.js";
import type { EndpointStore } from "./ports/endpoint-store.js";
import type { EventStore } from "./ports/event-store.js";
import type { Ids } from "./ports/ids.js";
import type { LedgerStore } from "./ports/ledger-store.js";
import type { OperatorLog } from "./ports/operator-log.js";
import type { OperatorStore } from "./ports/operator-store.js";
import type { OrderStore } from "./ports/order-store.js";
import type { PasswordLinkStore } from "./ports/password-link-store.js";
import type { RateLimits } from "./ports/rate-limits.js";
import type { ReferenceStore } from "./ports/reference-store.js";
import type { RetentionStore } from "./ports/retention-store.js";
import type { Secrets } from "./ports/secrets.js";
import type { SessionStore } from "./ports/session-store.js";
import type { TaskStore } from "./ports/task-store.js";
import type {
  AccountUseCases,
  CreditUseCases,
  OperatorUseCases,
  PanoramaUseCases,
  WebhookUseCases,
} from "./use-cases.js";
import { createEndpoint } from "./webhooks/create-endpoint.js";
import { deleteEndpoint } from "./webhooks/delete-endpoint.js";
import { enableEndpoint } from "./webhooks/enable-endpoint.js";
import { listDeliveries } from "./webhooks/list-deliveries.js";
import { listEndpoints } from "./webhooks/list-endpoints.js";
import { resendDelivery } from "./webhooks/resend-delivery.js";
import { rotateEndpointSecret } from "./webhooks/rotate-endpoint-secret.js";

/** All stores. They share one database: what one method writes is one transaction. */
export type Stores = {
  readonly accounts: AccountStore;
  readonly orders: OrderStore;
  readonly keys: ApiKeyStore;
  readonly ledger: LedgerStore;
  readonly sessions: SessionStore;
  readonly links: PasswordLinkStore;
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly events: EventStore;
  readonly references: ReferenceStore;
  readonly tasks: TaskStore;
  readonly retentions: RetentionStore;
  readonly operators: OperatorStore;
  readonly operatorLog: OperatorLog;
  readonly apiRequests: ApiRequests;
  readonly rateLimits: RateLimits;
};

/** The stores, time and randomness. */
export type StorePorts = Stores & { readonly clock: Clock; readonly ids: Ids; readonly secrets: Secrets };

/** The use cases that `storeUseCases` makes. */
export type StoreUseCases = {
  readonly accounts: Omit<AccountUseCases, "sendPasswordLink" | "noteKeyUse" | "holdKey">;
  readonly credits: Omit<CreditUseCases, "buy" | "receivePaymentWebhook">;
  readonly panoramas: Pick<
    PanoramaUseCases,
    | "read"
    | "list"
    | "findOwn"
    | "countAhead"
    | "findPublic"
    | "listPublic"
    | "searchPublic"
    | "changeVisibility"
    | "checkUpload"
    | "retryImage"
    | "retryFailedImages"
  >;
  readonly webhooks: WebhookUseCases;
  readonly operators: Omit<OperatorUseCases, "exportAccount">;
};

/**
 * The use cases that work on the stores alone: a command of the operator needs no provider, storage, mail or payments.
 * `createApplication` has them too.
 */
export const storeUseCases = (
  ports: StorePorts,
  settings: Pick<ApplicationSettings, "webhookPrivateOrigins" | "policy" | "signUp" | "welcomeCredits"> = {},
): StoreUseCases => ({
  accounts: {
    hasAny: hasAccounts(ports),
    open: openAccount(ports),
    signUp: signUp(ports, settings),
    read: readAccount(ports),
    setLowBalance: setLowBalance(ports),
    logIn: logIn(ports),
    logOut: logOut(ports),
    findSession: findSession(ports),
    setPassword: setPassword(ports),
    checkPasswordLink: checkPasswordLink(ports),
    setPasswordByLink: setPasswordByLink(ports, settings),
    admitApiRequest: admitApiRequest({ ...ports, requests: ports.apiRequests }),
    createApiKey: createApiKey(ports),
    listApiKeys: listApiKeys(ports),
    revokeApiKey: revokeApiKey(ports),
    revokeAnyApiKey: revokeAnyApiKey(ports),
  },
  credits: {
    createOrder: createOrder(ports),
    payOrder: payOrder(ports),
    read: readCredits(ports),
    readTotals: readCreditTotals(ports),
    readLedger: readLedger(ports),
    verifyLedger: verifyLedger(ports),
  },
  panoramas: {
    read: readTask(ports),
    list: listTasks(ports),
    findOwn: findOwnPanorama(ports),
    countAhead: countAhead(ports),
    findPublic: findPublicPanorama(ports),
    listPublic: listPublicPanoramas(ports),
    searchPublic: searchPublicPanoramas(ports),
    changeVisibility: changeVisibility(ports),
    checkUpload: checkUpload(ports, settings),
    retryImage: retryImage(ports),
    retryFailedImages: retryFailedImages(ports),
  },
  webhooks: {
    createEndpoint: createEndpoint(ports, { privateOrigins: settings.webhookPrivateOrigins ?? [] }),
    listEndpoints: listEndpoints(ports),
    deleteEndpoint: deleteEndpoint(ports),
    rotateEndpointSecret: rotateEndpointSecret(ports),
    enableEndpoint: enableEndpoint(ports),
    listDeliveries: listDeliveries(ports),
    resendDelivery: resendDelivery(ports),
  },
  operators: {
    recordAction: recordAction(ports),
    adjustCredits: adjustCredits(ports),
    changeKeyLimits: changeKeyLimits(ports),
    closeAccount: closeAccount(ports),
    invite: invite(ports, settings),
    readRetention: readRetention(ports),
    confirmRetention: confirmRetention(ports),
  },
});
