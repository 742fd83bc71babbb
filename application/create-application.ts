import type { Task } from "../domain/tasks/task.js";
import { accountSettings } from "./accounts/account-settings.js";
import { accounts } from "./accounts/accounts.js";
import { apiKeys } from "./accounts/api-keys.js";
import { admissions, type KeyUses, keyUses, type OpenKeys, openKeys } from "./accounts/api-requests.js";
import { accountExports } from "./accounts/export-account.js";
import { links, mailedLinks } from "./accounts/links.js";
import { logins, sessions } from "./accounts/sessions.js";
import { type ApplicationSettings, type CompleteSettings, completeSettings } from "./application-settings.js";
import { backgroundWork, type WorkName, wakeAfter } from "./background/background-work.js";
import { providerWebhooks } from "./background/receive-provider-webhook.js";
import { clockSchedule } from "./background/work-runs.js";
import { ledger } from "./credits/ledger.js";
import { orders } from "./credits/orders.js";
import { purchases, reconciliations } from "./credits/purchases.js";
import { eventStreams } from "./events/event-streams.js";
import { operatedAccounts } from "./operators/accounts.js";
import { operatedCredits } from "./operators/credits.js";
import { operatedPanoramas } from "./operators/panoramas.js";
import { operatorActions } from "./operators/record-action.js";
import { cancellations } from "./panoramas/cancellations.js";
import { creations } from "./panoramas/creations.js";
import { deletions } from "./panoramas/deletions.js";
import { type GenerationTime, generationTime } from "./panoramas/generation-time.js";
import { panoramas } from "./panoramas/panoramas.js";
import { progress } from "./panoramas/progress.js";
import { uploads } from "./panoramas/uploads.js";
import type { ApplicationPorts } from "./ports/application-ports.js";
import type { TaskSignals } from "./ports/signals.js";
import type { StorePorts } from "./ports/stores/stores.js";
import { endpointTests, ensureDefaultEndpoint, webhooks } from "./webhooks/webhooks.js";

type StoreSettings = Pick<ApplicationSettings, "signUp" | "gallery" | "welcomeCredits"> &
  Pick<CompleteSettings, "policy" | "webhookPrivateOrigins">;

/**
 * Use cases that need only the stores: operator commands need no provider, storage, mail or payments.
 * `createApplication` has them too.
 */
export const storeUseCases = (ports: StorePorts, settings: StoreSettings) => ({
  accounts: {
    ...accounts(ports, settings),
    ...sessions(ports),
    ...links(ports, settings),
    ...apiKeys(ports),
    ...admissions(ports),
  },
  credits: { ...orders(ports), ...ledger(ports) },
  panoramas: panoramas(ports, settings),
  webhooks: webhooks(ports, settings),
  operators: {
    ...operatedAccounts(ports, settings),
    ...operatedCredits(ports),
    ...operatedPanoramas(ports),
    ...operatorActions(ports),
  },
});

export type StoreUseCases = ReturnType<typeof storeUseCases>;

/** All other use cases. They share ports inside the application. Callers take their types from `UseCases`. */
function allUseCases(
  ports: ApplicationPorts & {
    readonly generationTime: GenerationTime;
    readonly keyUses: KeyUses;
    readonly openKeys: OpenKeys;
    readonly wakePolls: () => void;
  },
  settings: CompleteSettings,
) {
  const stored = storeUseCases(ports, settings);
  return {
    accounts: {
      ...stored.accounts,
      ...logins(ports),
      ...mailedLinks(ports, settings),
      ...accountSettings(ports),
      ...accountExports(ports),
      noteKeyUse: ports.keyUses.note,
      watchKey: ports.openKeys.watch,
    },
    credits: { ...stored.credits, ...purchases(ports) },
    panoramas: {
      ...stored.panoramas,
      ...progress(ports),
      ...deletions(ports),
      ...creations({ ...ports, ensureDefaultEndpoint: (account) => ensureDefaultEndpoint(ports, account) }, settings),
      ...cancellations(ports, settings),
      ...uploads(ports, settings),
      ...providerWebhooks(ports),
    },
    events: eventStreams(ports),
    webhooks: { ...stored.webhooks, ...endpointTests(ports) },
    operators: { ...stored.operators, ...reconciliations(ports) },
  };
}

const STOP_MILLISECONDS = 20_000;

/**
 * Builds the application from its ports. Calls none of them, and starts nothing. Throws if the
 * provider may take longer than the generation deadline.
 */
export const createApplication = ({
  ports,
  settings = {},
}: {
  readonly ports: ApplicationPorts;
  readonly settings?: ApplicationSettings | undefined;
}) => {
  const complete = completeSettings(settings);
  const { timeoutMilliseconds = 0 } = ports.provider;
  if (timeoutMilliseconds > complete.generationDeadlineMilliseconds) {
    const deadline = `generationDeadlineMilliseconds (${complete.generationDeadlineMilliseconds})`;
    throw new RangeError(`${deadline} must not be below the time-out of the provider, ${timeoutMilliseconds} ms.`);
  }
  const { clock, eventSignals, reporter, schedule: makeSchedule = clockSchedule(clock) } = ports;
  const time = generationTime();
  const signals = announcing(ports.signals, (task) => {
    time.add(task);
    wakeAfter(task, wake, eventSignals);
  });
  const uses = keyUses(ports);
  const inside = { ...ports, signals, generationTime: time, keyUses: uses, openKeys: openKeys(ports) };
  const schedule = backgroundWork({ ...inside, schedule: makeSchedule }, complete);
  let started = false;
  const wake = (work: WorkName): void => {
    if (started) schedule.wake(work); // another process may do the background work
  };
  return {
    ...allUseCases({ ...inside, wakePolls: () => wake("poll") }, complete),
    /** Prices and limits of the use cases, for all code that shows them to clients. */
    policy: complete.policy,
    /** Origins that may receive webhooks over http or at a private address. */
    webhookPrivateOrigins: complete.webhookPrivateOrigins,
    viewerUrl: complete.viewerUrl,
    /** Hours until an unused upload is deleted. */
    referenceRetentionHours: complete.referenceRetentionHours,
    /** Starts the background work. Without `start`, this process only accepts tasks. */
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
      await uses
        .flushAll()
        .catch((error: unknown) => reporter.report({ kind: "work_failed", work: "write_key_uses", error }));
    },
  };
};

/** All use cases, and the background work. */
export type Application = ReturnType<typeof createApplication>;

export type UseCases = Omit<
  Application,
  "policy" | "webhookPrivateOrigins" | "viewerUrl" | "referenceRetentionHours" | "start" | "stop"
>;

/** The same signals, with `listener` called for every announcement. */
const announcing = (signals: TaskSignals, listener: (task: Task) => void): TaskSignals => ({
  announce: (task) => {
    signals.announce(task);
    listener(task);
  },
  next: signals.next.bind(signals),
  waitedFor: signals.waitedFor.bind(signals),
  wake: signals.wake.bind(signals),
});
