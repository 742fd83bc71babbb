import type { Task } from "../domain/tasks/task.js";
import { admitApiRequest } from "./accounts/admit-api-request.js";
import { checkPasswordLink } from "./accounts/check-password-link.js";
import { createApiKey } from "./accounts/create-api-key.js";
import { hasAccounts } from "./accounts/has-accounts.js";
import { type HeldKeys, heldKeys } from "./accounts/held-keys.js";
import { type KeyUses, keyUses } from "./accounts/key-uses.js";
import { listApiKeys } from "./accounts/list-api-keys.js";
import { openAccount } from "./accounts/open-account.js";
import { readAccount } from "./accounts/read-account.js";
import { readKeySpending } from "./accounts/read-key-spending.js";
import { revokeAnyApiKey } from "./accounts/revoke-any-api-key.js";
import { revokeApiKey } from "./accounts/revoke-api-key.js";
import { changePassword } from "./accounts/self-service/change-password.js";
import { checkEmailLink, confirmEmail } from "./accounts/self-service/confirm-email.js";
import { deleteAccount } from "./accounts/self-service/delete-account.js";
import { exportAccount } from "./accounts/self-service/export-account.js";
import { sendEmailLink } from "./accounts/self-service/send-email-link.js";
import { sendPasswordLink } from "./accounts/send-password-link.js";
import { findSession } from "./accounts/sessions/find-session.js";
import { logIn } from "./accounts/sessions/log-in.js";
import { logOut } from "./accounts/sessions/log-out.js";
import { setLowBalance } from "./accounts/set-low-balance.js";
import { setPasswordByLink } from "./accounts/set-password-by-link.js";
import { signUp } from "./accounts/sign-up.js";
import type { ApplicationSettings } from "./application-settings.js";
import { backgroundWork, type WorkName, wakeAfter } from "./background/background-work.js";
import { clockSchedule } from "./background/clock-schedule.js";
import { receiveProviderWebhook } from "./background/receive-provider-webhook.js";
import { type CompleteSettings, completeSettings } from "./complete-settings.js";
import { buyCredits } from "./credits/buy-credits.js";
import { cancelOrder } from "./credits/cancel-order.js";
import { createOrder } from "./credits/create-order.js";
import { listEntries } from "./credits/list-entries.js";
import { payOrder } from "./credits/pay-order.js";
import { readBalance } from "./credits/read-balance.js";
import { readCreditTotals } from "./credits/read-credit-totals.js";
import { readOrder } from "./credits/read-order.js";
import { receivePaymentWebhook } from "./credits/receive-payment-webhook.js";
import { reconcilePayments } from "./credits/reconcile-payments.js";
import { verifyLedger } from "./credits/verify-ledger.js";
import { streamEvents } from "./events/stream-events.js";
import { adjustCredits } from "./operators/adjust-credits.js";
import { changeKeyLimits } from "./operators/change-key-limits.js";
import { closeAccount } from "./operators/close-account.js";
import { explainTask } from "./operators/explain-task.js";
import { findKeyBySecret } from "./operators/find-key-by-secret.js";
import { invite } from "./operators/invite.js";
import { makePasswordLink } from "./operators/make-password-link.js";
import { recordAction } from "./operators/record-action.js";
import { refundOrder } from "./operators/refund-order.js";
import { revokeKeys } from "./operators/revoke-keys.js";
import { suspendAccount } from "./operators/suspend-account.js";
import { withholdAccount, withholdPanorama } from "./operators/withhold-panorama.js";
import { cancelTask } from "./panoramas/cancel-task.js";
import { changeVisibility } from "./panoramas/change-visibility.js";
import { checkUpload } from "./panoramas/check-upload.js";
import { createPanorama } from "./panoramas/create-panorama.js";
import { deletePanorama } from "./panoramas/delete-panorama.js";
import { findOwnPanorama } from "./panoramas/find-own-panorama.js";
import { findPublicPanorama } from "./panoramas/find-public-panorama.js";
import { forecastTask } from "./panoramas/forecast-task.js";
import { type GenerationTime, generationTime } from "./panoramas/generation-time.js";
import { listPublicPanoramas } from "./panoramas/lists/list-public-panoramas.js";
import { listTasks } from "./panoramas/lists/list-tasks.js";
import { searchOwnTasks } from "./panoramas/lists/search-own-tasks.js";
import { searchPublicPanoramas } from "./panoramas/lists/search-public-panoramas.js";
import { readAbilities } from "./panoramas/read-abilities.js";
import { readTask } from "./panoramas/read-task.js";
import { retryFailedImages } from "./panoramas/retry-failed-images.js";
import { retryImage } from "./panoramas/retry-image.js";
import { uploadImages } from "./panoramas/upload-images.js";
import { waitForTask } from "./panoramas/wait-for-task.js";
import type { EventSignals } from "./ports/event-signals.js";
import type { GenerationProvider } from "./ports/generation-provider.js";
import type { Imaging } from "./ports/imaging.js";
import type { Mail } from "./ports/mail.js";
import type { ObjectStorage } from "./ports/object-storage.js";
import type { Payments } from "./ports/payments.js";
import type { ProviderWebhooks } from "./ports/provider-webhooks.js";
import type { Reporter } from "./ports/reporter.js";
import type { MakeSchedule } from "./ports/schedule.js";
import type { StorePorts } from "./ports/stores/stores.js";
import type { ImageAddress } from "./ports/stores/tasks/task-store.js";
import type { TaskSignals } from "./ports/task-signals.js";
import type { WebhookSender } from "./ports/webhook-sender.js";
import { createEndpoint } from "./webhooks/create-endpoint.js";
import { deleteEndpoint } from "./webhooks/delete-endpoint.js";
import { enableEndpoint } from "./webhooks/enable-endpoint.js";
import { ensureDefaultEndpoint } from "./webhooks/ensure-default-endpoint.js";
import { listDeliveries } from "./webhooks/list-deliveries.js";
import { listEndpoints } from "./webhooks/list-endpoints.js";
import { resendDelivery } from "./webhooks/resend-delivery.js";
import { rotateEndpointSecret } from "./webhooks/rotate-endpoint-secret.js";
import { testEndpoint } from "./webhooks/test-endpoint.js";

/** All that the application needs from outside. */
export type ApplicationPorts = StorePorts & {
  readonly provider: GenerationProvider;
  readonly storage: ObjectStorage;
  readonly imaging: Imaging;
  readonly mail: Mail;
  readonly payments: Payments;
  readonly webhookSender: WebhookSender;
  readonly signals: TaskSignals;
  readonly eventSignals: EventSignals;
  readonly reporter: Reporter;
  /** The providers that send webhooks, by name. Absent: none does. */
  readonly providerWebhooks?: ReadonlyMap<string, ProviderWebhooks> | undefined;
  /** Runs the background work. Absent: `clock` does. */
  readonly schedule?: MakeSchedule | undefined;
};

type StoreSettings = Pick<ApplicationSettings, "webhookPrivateOrigins" | "signUp" | "gallery" | "welcomeCredits"> &
  Pick<CompleteSettings, "policy">;

/**
 * The use cases that work on the stores alone: a command of the operator needs no provider, storage, mail or payments.
 * `createApplication` has them too.
 */
export const storeUseCases = (ports: StorePorts, settings: StoreSettings) => ({
  accounts: {
    hasAny: hasAccounts(ports),
    open: openAccount(ports),
    signUp: signUp(ports, settings),
    read: readAccount(ports),
    readKeySpending: readKeySpending(ports),
    setLowBalance: setLowBalance(ports),
    logOut: logOut(ports),
    findSession: findSession(ports),
    checkPasswordLink: checkPasswordLink(ports, settings),
    setPasswordByLink: setPasswordByLink(ports, settings),
    checkEmailLink: checkEmailLink(ports),
    admitApiRequest: admitApiRequest({ ...ports, requests: ports.apiRequests }),
    createApiKey: createApiKey(ports),
    listApiKeys: listApiKeys(ports),
    revokeApiKey: revokeApiKey(ports),
    revokeAnyApiKey: revokeAnyApiKey(ports),
  },
  credits: {
    createOrder: createOrder(ports),
    cancelOrder: cancelOrder(ports),
    payOrder: payOrder(ports),
    readOrder: readOrder(ports),
    readBalance: readBalance(ports),
    readTotals: readCreditTotals(ports),
    listEntries: listEntries(ports),
    verifyLedger: verifyLedger(ports),
  },
  panoramas: {
    read: readTask(ports),
    list: listTasks(ports),
    searchOwn: searchOwnTasks(ports),
    findOwn: findOwnPanorama(ports),
    findPublic: findPublicPanorama(ports),
    listPublic: listPublicPanoramas(ports, settings),
    searchPublic: searchPublicPanoramas(ports, settings),
    isWithheldImage: (image: ImageAddress) => ports.tasks.isWithheldImage(image),
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
    refundOrder: refundOrder(ports),
    changeKeyLimits: changeKeyLimits(ports),
    closeAccount: closeAccount(ports),
    explainTask: explainTask(ports),
    findKeyBySecret: findKeyBySecret(ports),
    revokeKeys: revokeKeys(ports),
    withholdPanorama: withholdPanorama(ports),
    withholdAccount: withholdAccount(ports),
    suspendAccount: suspendAccount(ports),
    invite: invite(ports, settings),
    makePasswordLink: makePasswordLink(ports),
  },
});

/** The use cases of `storeUseCases`. */
export type StoreUseCases = ReturnType<typeof storeUseCases>;

/** What the use cases share inside the application. */
type InnerPorts = ApplicationPorts & {
  readonly generationTime: GenerationTime;
  readonly keyUses: KeyUses;
  readonly heldKeys: HeldKeys;
  readonly pollDue: () => void;
};

/** Each use case stands here, or in `storeUseCases`, and nowhere else: what calls it takes its type from `UseCases`. */
const allUseCases = (ports: InnerPorts, settings: CompleteSettings) => {
  const { accounts, credits, panoramas, webhooks, operators } = storeUseCases(ports, settings);
  return {
    accounts: {
      ...accounts,
      logIn: logIn(ports),
      sendPasswordLink: sendPasswordLink(ports, settings),
      changePassword: changePassword(ports),
      sendEmailLink: sendEmailLink(ports),
      confirmEmail: confirmEmail(ports),
      delete: deleteAccount({ ...ports, closeAccount: operators.closeAccount }),
      export: exportAccount(ports),
      noteKeyUse: ports.keyUses.note,
      holdKey: ports.heldKeys.hold,
    },
    credits: {
      ...credits,
      buy: buyCredits(ports),
      receivePaymentWebhook: receivePaymentWebhook(ports),
    },
    panoramas: {
      ...panoramas,
      isLate: ports.generationTime.isLate,
      forecast: forecastTask(ports),
      readAbilities: readAbilities(ports),
      create: createPanorama({ ...ports, ensureDefaultEndpoint: ensureDefaultEndpoint(ports) }, settings),
      waitFor: waitForTask(ports),
      cancel: cancelTask(ports, settings),
      delete: deletePanorama(ports),
      uploadImages: uploadImages(ports, settings),
      receiveProviderWebhook: receiveProviderWebhook({ ...ports, webhooks: ports.providerWebhooks ?? new Map() }),
    },
    events: { stream: streamEvents({ ...ports, signals: ports.eventSignals }) },
    webhooks: { ...webhooks, testEndpoint: testEndpoint(ports) },
    operators: {
      ...operators,
      reconcilePayments: reconcilePayments(ports),
    },
  };
};

const STOP_MILLISECONDS = 20_000;

/** Makes the whole application from its ports. Calls none of them, and starts nothing. */
export const createApplication = ({
  ports,
  settings = {},
}: {
  readonly ports: ApplicationPorts;
  readonly settings?: ApplicationSettings | undefined;
}) => {
  const complete = completeSettings(settings);
  const { clock, eventSignals, reporter, schedule: makeSchedule = clockSchedule(clock) } = ports;
  const time = generationTime();
  const signals = announcing(ports.signals, (task) => {
    time.add(task);
    wakeAfter(task, wake, eventSignals);
  });
  const uses = keyUses(ports);
  const inside = { ...ports, signals, generationTime: time, keyUses: uses, heldKeys: heldKeys(ports) };
  const schedule = backgroundWork({ ...inside, schedule: makeSchedule }, complete);
  let started = false;
  const wake = (work: WorkName): void => {
    if (started) schedule.wake(work); // another process may do the background work
  };
  return {
    ...allUseCases({ ...inside, pollDue: () => wake("settle") }, complete),
    /** The prices and limits that the use cases apply, for what tells clients about them. */
    policy: complete.policy,
    /** Origins to which webhooks may be sent although they use http or have a private address. */
    webhookPrivateOrigins: complete.webhookPrivateOrigins,
    /** Where people look at a panorama. */
    viewerUrl: complete.viewerUrl,
    /** How long an uploaded image is kept that no creation uses. */
    referenceRetentionHours: complete.referenceRetentionHours,
    /** Starts the background work. Without it, tasks are created here, but only other processes work on them. */
    start: async (): Promise<void> => {
      started = true;
      schedule.start();
    },
    /**
     * Starts no more background work, and resolves when the current runs have ended, or at the deadline (default: 20
     * seconds). The application cannot be started again.
     */
    stop: async (deadlineMilliseconds = STOP_MILLISECONDS): Promise<void> => {
      await schedule.stop(deadlineMilliseconds);
      await uses.flushAll().catch((error: unknown) => reporter.report({ kind: "work_failed", work: "uses", error }));
    },
  };
};

/** All use cases, and the background work. */
export type Application = ReturnType<typeof createApplication>;

/** All use cases, by what they are about. */
export type UseCases = Omit<
  Application,
  "policy" | "webhookPrivateOrigins" | "viewerUrl" | "referenceRetentionHours" | "start" | "stop"
>;

/** The same signals; `listener` gets every announcement, too. */
const announcing = (signals: TaskSignals, listener: (task: Task) => void): TaskSignals => ({
  announce: (task) => {
    signals.announce(task);
    listener(task);
  },
  next: (id, signal) => signals.next(id, signal),
  waitedFor: () => signals.waitedFor(),
  wake: (id) => signals.wake(id),
});
