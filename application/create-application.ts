import type { PanoramaPolicy } from "../domain/panorama-policy.js";
import type { Task } from "../domain/task.js";
import { heldKeys } from "./accounts/held-keys.js";
import { keyUses } from "./accounts/key-uses.js";
import { sendPasswordLink } from "./accounts/send-password-link.js";
import type { ApplicationSettings } from "./application-settings.js";
import { backgroundWork, type WorkName, wakeAfter } from "./background/background-work.js";
import { clockSchedule } from "./background/clock-schedule.js";
import { receiveProviderWebhook } from "./background/receive-provider-webhook.js";
import { completeSettings } from "./complete-settings.js";
import { buyCredits } from "./credits/buy-credits.js";
import { receivePaymentWebhook } from "./credits/receive-payment-webhook.js";
import { streamEvents } from "./events/stream-events.js";
import { exportAccount } from "./operators/export-account.js";
import { cancelTask } from "./panoramas/cancel-task.js";
import { createPanorama } from "./panoramas/create-panorama.js";
import { deletePanorama } from "./panoramas/delete-panorama.js";
import { generationTime } from "./panoramas/generation-time.js";
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
import type { TaskSignals } from "./ports/task-signals.js";
import type { WebhookSender } from "./ports/webhook-sender.js";
import { type StorePorts, storeUseCases } from "./store-use-cases.js";
import type { UseCases } from "./use-cases.js";
import { ensureDefaultEndpoint } from "./webhooks/ensure-default-endpoint.js";

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

/** All use cases, and the background work. */
export type Application = UseCases & {
  /** The prices and limits that the use cases apply, for what tells clients about them. */
  readonly policy: PanoramaPolicy;
  /** Origins to which webhooks may be sent although they use http or have a private address. */
  readonly webhookPrivateOrigins: readonly string[];
  /** Starts the background work. In a process without it, tasks are created, but only other processes work on them. */
  start(): Promise<void>;
  /**
   * Starts no more background work, and resolves when the current runs have ended, or at the deadline (default: 20
   * seconds). The application cannot be started again.
   */
  stop(deadlineMilliseconds?: number): Promise<void>;
};

const STOP_MILLISECONDS = 20_000;

/** Makes the whole application from its ports. Calls none of them, and starts nothing. */
export const createApplication = ({
  ports,
  settings = {},
}: {
  readonly ports: ApplicationPorts;
  readonly settings?: ApplicationSettings | undefined;
}): Application => {
  const complete = completeSettings(settings);
  const { clock, eventSignals, reporter, schedule: makeSchedule = clockSchedule(clock) } = ports;
  const time = generationTime();
  const signals = announcing(ports.signals, (task) => {
    time.add(task);
    wakeAfter(task, wake, eventSignals);
  });
  const uses = keyUses(ports);
  const held = heldKeys(ports);
  const inside = { ...ports, signals };
  const schedule = backgroundWork({ ...inside, keyUses: uses, heldKeys: held, schedule: makeSchedule }, complete);
  let started = false;
  const wake = (work: WorkName): void => {
    if (started) schedule.wake(work); // another process may do the background work
  };
  const onStores = storeUseCases(inside, complete);
  return {
    policy: complete.policy,
    webhookPrivateOrigins: complete.webhookPrivateOrigins,
    accounts: {
      ...onStores.accounts,
      sendPasswordLink: sendPasswordLink(inside, complete),
      noteKeyUse: uses.note,
      holdKey: held.hold,
    },
    credits: {
      ...onStores.credits,
      buy: buyCredits(inside),
      receivePaymentWebhook: receivePaymentWebhook(inside),
    },
    panoramas: {
      ...onStores.panoramas,
      isLate: time.isLate,
      create: createPanorama(
        { ...inside, generationTime: time, ensureDefaultEndpoint: ensureDefaultEndpoint(inside) },
        complete,
      ),
      waitFor: waitForTask(inside),
      cancel: cancelTask(inside, complete),
      delete: deletePanorama(inside),
      uploadImages: uploadImages(inside, complete),
      receiveProviderWebhook: receiveProviderWebhook({
        ...inside,
        webhooks: ports.providerWebhooks ?? new Map(),
        pollDue: () => wake("settle"),
      }),
    },
    events: { stream: streamEvents({ ...inside, signals: eventSignals }) },
    webhooks: onStores.webhooks,
    operators: { ...onStores.operators, exportAccount: exportAccount(inside) },
    start: async () => {
      started = true;
      schedule.start();
    },
    stop: async (deadlineMilliseconds = STOP_MILLISECONDS) => {
      await schedule.stop(deadlineMilliseconds);
      await uses.flushAll().catch((error: unknown) => reporter.report({ kind: "work_failed", work: "uses", error }));
    },
  };
};

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
