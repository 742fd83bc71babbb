import { isActive, type Task } from "../../domain/tasks/task.js";
import type { HeldKeys, KeyUses } from "../accounts/api-requests.js";
import type { CompleteSettings } from "../application-settings.js";
import { eventBody } from "../events/panorama-task.js";
import type { Clock, MakeSchedule, Schedule } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Ids } from "../ports/ids.js";
import type { Imaging } from "../ports/imaging.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Reporter } from "../ports/reporter.js";
import type { EventSignals, TaskSignals } from "../ports/signals.js";
import type { OperatorLog } from "../ports/stores/operator-log.js";
import type { AccountErasure } from "../ports/stores/operator-store.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";
import type { ReferenceStore } from "../ports/stores/reference-store.js";
import type { TaskPorts } from "../ports/stores/stores.js";
import type { DueWork } from "../ports/stores/tasks/task-work.js";
import type { DeliveryStore, EventStore } from "../ports/stores/webhook-stores.js";
import type { WebhookSender } from "../ports/webhook-sender.js";
import { deliverEvents } from "../webhooks/deliver-events.js";
import { deleteOldEvents } from "../webhooks/deliveries.js";
import { CHECK_PAUSE_MILLISECONDS, checkGeneratedImages } from "./check-generated-images.js";
import {
  deleteExpiredReferences,
  ERASE_PAUSE_MILLISECONDS,
  eraseClosedAccounts,
  eraseDeletedPanoramas,
  eraseTexts,
  forgetOperatorActions,
} from "./erase.js";
import { keepFinishedImages } from "./keep-finished-images.js";
import { settleSubmittedTasks } from "./settle-submitted-tasks.js";
import { startQueuedTasks } from "./start-queued-tasks.js";
import { KEEP_PAUSE_MILLISECONDS_MAX } from "./store-panorama.js";
import { sweep } from "./sweep.js";
import { watchStreams, watchWaitedTasks } from "./watch-changes.js";

/** Tasks in progress at the same time, per process and kind of work. */
const POLL_CONCURRENCY = 64; // at one second per answer, about as many polls per second as providers allow
/** 8 concurrent checks: slow downloads end at their time limit, and 8 of the largest results fit into memory. */
const CHECK_CONCURRENCY = 8;
const KEEP_CONCURRENCY = 4;
const SWEEP_CONCURRENCY = 16;
const ERASE_CONCURRENCY = 4;
const DELIVERY_CONCURRENCY = 256; // many receivers may be slow at the same time, and waiting for one costs little

/** Longer than the maximum time of an attempt to send a webhook. */
const DELIVERY_LEASE_MILLISECONDS = 20_000;

/** Factor for the leases of images: download, encoding and upload take longer than a poll. */
const IMAGE_LEASES = 3;

type Ports = {
  readonly tasks: TaskPorts;
  readonly references: Pick<ReferenceStore, "expire" | "claimDeletable" | "forget">;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly operators: AccountErasure;
  readonly operatorLog: Pick<OperatorLog, "deleteBefore">;
  readonly rateLimits: RateLimits;
  readonly provider: GenerationProvider;
  readonly storage: ObjectStorage;
  readonly imaging: Imaging;
  readonly webhookSender: WebhookSender;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly signals: TaskSignals;
  readonly eventSignals: EventSignals;
  readonly reporter: Reporter;
  readonly keyUses: Pick<KeyUses, "flush">;
  readonly heldKeys: HeldKeys;
  readonly schedule: MakeSchedule;
};

/** The kinds of work, as the log and the metrics name them. */
export type WorkName =
  | "start"
  | "settle"
  | "check"
  | "keep"
  | "sweep"
  | "erase"
  | "watch"
  | "deliver"
  | "streams"
  | "forget"
  | "expire"
  | "uses"
  | "clean";

/** The background work of the application, with its times and limits. */
export const backgroundWork = (ports: Ports, settings: CompleteSettings): Schedule<WorkName> => {
  const { provider, storage, rateLimits, eventSignals, keyUses, reporter } = ports;
  const { start, settle, check, keep, sweepTasks, erase } = taskWork(ports, settings);
  const { expire, forget } = expiryWork(ports, settings);
  let claimDeliveries = () => {};
  const deliver = deliverEvents(
    { ...ports, sender: ports.webhookSender },
    {
      leaseMilliseconds: DELIVERY_LEASE_MILLISECONDS,
      concurrency: DELIVERY_CONCURRENCY,
      bodyOf: (event, task) => eventBody(event, task, { storage, viewerUrl: settings.viewerUrl }),
      onWake: (claimNow) => {
        claimDeliveries = claimNow;
      },
    },
  );
  const schedule = ports.schedule<WorkName>(
    [
      { name: "start", everySeconds: 1, run: start },
      { name: "settle", everySeconds: 1, run: settle },
      { name: "check", everySeconds: 1, run: check },
      { name: "keep", everySeconds: 1, run: keep },
      { name: "sweep", everySeconds: 5, run: sweepTasks },
      { name: "erase", everySeconds: 5, run: erase },
      // In a single process the signals are complete.
      ...(settings.processes === "several"
        ? [{ name: "watch", everySeconds: 1, run: watchWaitedTasks(ports) } as const]
        : []),
      { name: "deliver", everySeconds: 1, run: deliver },
      { name: "streams", everySeconds: 1, run: watchStreams({ ...ports, signals: eventSignals }) },
      { name: "forget", everySeconds: 60, offsetSeconds: 45, run: forget },
      { name: "expire", everySeconds: 60, offsetSeconds: 30, run: expire },
      { name: "uses", everySeconds: 60, offsetSeconds: 45, run: keyUses.flush },
      { name: "clean", everySeconds: 3600, run: () => Promise.all([provider.clean?.(), rateLimits.clean?.()]) },
    ],
    (work, error) => reporter.report({ kind: "work_failed", work, error }),
  );
  return {
    start: () => schedule.start(),
    stop: (deadlineMilliseconds) => schedule.stop(deadlineMilliseconds),
    wake: (work) => {
      if (work === "deliver") claimDeliveries(); // slow receivers make a run last, and the next one would be late
      schedule.wake(work);
    },
  };
};

/** Work that moves tasks on, and stores or deletes images. */
const taskWork = (ports: Ports, settings: CompleteSettings) => {
  const { leaseMilliseconds, generationDeadlineMilliseconds, queueDeadlineMilliseconds, resultBounds } = settings;
  const imageLease = { leaseMilliseconds: IMAGE_LEASES * leaseMilliseconds };
  return {
    start: startQueuedTasks(ports, settings),
    settle: settleSubmittedTasks(ports, {
      leaseMilliseconds,
      concurrency: POLL_CONCURRENCY,
      generationDeadlineMilliseconds,
    }),
    check: checkGeneratedImages(ports, {
      ...imageLease,
      concurrency: CHECK_CONCURRENCY,
      generationDeadlineMilliseconds,
      resultBounds,
    }),
    keep: keepFinishedImages(ports, { ...imageLease, concurrency: KEEP_CONCURRENCY }),
    sweepTasks: sweep(ports, {
      leaseMilliseconds,
      concurrency: SWEEP_CONCURRENCY,
      queueDeadlineMilliseconds,
      dueWithinMilliseconds: dueWithinMilliseconds(settings),
    }),
    erase: eraseDeletedPanoramas(ports, { leaseMilliseconds, concurrency: ERASE_CONCURRENCY }),
  };
};

/** Work that deletes expired uploads, events and texts, and data of closed accounts. */
const expiryWork = (ports: Ports, settings: CompleteSettings) => {
  const { leaseMilliseconds, referenceRetentionHours, operatorLogDays } = settings;
  // Closed accounts last: an error there must not stop the other steps.
  const forgotten = [
    deleteOldEvents(ports),
    eraseTexts(ports),
    forgetOperatorActions(ports, operatorLogDays),
    eraseClosedAccounts(ports),
  ];
  return {
    expire: deleteExpiredReferences(ports, {
      retentionMilliseconds: referenceRetentionHours * 60 * 60 * 1000,
      leaseMilliseconds,
    }),
    forget: async (stopping?: AbortSignal) => {
      for (const forget of forgotten) await forget(stopping);
    },
  };
};

/** Starts the work that a change of a task makes due. */
export const wakeAfter = (
  task: Task,
  wake: (work: WorkName) => void,
  eventSignals: Pick<EventSignals, "wake">,
): void => {
  if (task.state === "generated") wake("check");
  if (task.state === "generated" || !isActive(task)) wake("start"); // its slot at the provider is free
  if (isActive(task)) return;
  wake("deliver"); // its end is an event
  eventSignals.wake(task.accountId);
};

/** Maximum distance of a due time from now, by kind of work: the longest delay or lease. */
const dueWithinMilliseconds = ({
  leaseMilliseconds,
  submissionDeadlineMilliseconds,
  queueDeadlineMilliseconds,
  pollMillisecondsMax,
}: CompleteSettings): Record<keyof DueWork, number> => ({
  giveUp: Math.max(leaseMilliseconds, queueDeadlineMilliseconds),
  sweep: Math.max(leaseMilliseconds, submissionDeadlineMilliseconds),
  settle: Math.max(leaseMilliseconds, pollMillisecondsMax),
  check: Math.max(IMAGE_LEASES * leaseMilliseconds, CHECK_PAUSE_MILLISECONDS),
  keep: Math.max(IMAGE_LEASES * leaseMilliseconds, KEEP_PAUSE_MILLISECONDS_MAX),
  erase: Math.max(IMAGE_LEASES * leaseMilliseconds, ERASE_PAUSE_MILLISECONDS), // first after the lease of a worker
});
