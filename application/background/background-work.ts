import { isActive, type Task } from "../../domain/tasks/task.js";
import type { KeyUses, OpenKeys } from "../accounts/api-requests.js";
import type { CompleteSettings } from "../application-settings.js";
import { eventBody } from "../events/panorama-task.js";
import type { MakeSchedule, Schedule, ScheduledWork } from "../ports/clock.js";
import type { EventSignals } from "../ports/signals.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";
import type { DueWork } from "../ports/stores/tasks/task-work.js";
import type { EventStore } from "../ports/stores/webhook-stores.js";
import type { WebhookSender } from "../ports/webhook-sender.js";
import { eventDelivery } from "../webhooks/deliver-events.js";
import { CHECK_PAUSE_MILLISECONDS, resultChecks } from "./check-generated-images.js";
import {
  deleteExpiredReferences,
  ERASE_PAUSE_MILLISECONDS,
  type ErasePorts,
  eraseDeletedPanoramas,
  forget,
} from "./erase.js";
import { keepFinishedImages } from "./keep-finished-images.js";
import { settleSubmittedTasks } from "./settle-submitted-tasks.js";
import { startQueuedTasks } from "./start-queued-tasks.js";
import { KEEP_PAUSE_MILLISECONDS_MAX } from "./store-panorama.js";
import { sweep } from "./sweep.js";
import { streamWatch, watchWaitedTasks } from "./watch-changes.js";

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

type BackgroundPorts = ErasePorts & {
  readonly events: EventStore;
  readonly rateLimits: RateLimits;
  readonly webhookSender: WebhookSender;
  readonly eventSignals: EventSignals;
  readonly keyUses: KeyUses;
  readonly openKeys: OpenKeys;
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
export function backgroundWork(ports: BackgroundPorts, settings: CompleteSettings): Schedule<WorkName> {
  const { provider, storage, rateLimits, keyUses, reporter } = ports;
  const { leaseMilliseconds, generationDeadlineMilliseconds, referenceRetentionHours, operatorLogDays } = settings;
  const polls = { leaseMilliseconds, concurrency: POLL_CONCURRENCY, generationDeadlineMilliseconds };
  const imageLease = { leaseMilliseconds: IMAGE_LEASES * leaseMilliseconds };
  const keeping = { ...imageLease, concurrency: KEEP_CONCURRENCY };
  const dueWithin = dueWithinMilliseconds(settings);
  const sweeping = { ...settings, concurrency: SWEEP_CONCURRENCY, dueWithinMilliseconds: dueWithin };
  const erasing = { leaseMilliseconds, concurrency: ERASE_CONCURRENCY };
  const retention = { retentionMilliseconds: referenceRetentionHours * 60 * 60 * 1000, leaseMilliseconds };
  const checks = resultChecks(ports, { ...settings, ...imageLease, concurrency: CHECK_CONCURRENCY });
  const delivery = eventDelivery(ports, {
    leaseMilliseconds: DELIVERY_LEASE_MILLISECONDS,
    concurrency: DELIVERY_CONCURRENCY,
    bodyOf: (event, task) => eventBody(event, task, { storage, viewerUrl: settings.viewerUrl }),
  });
  const streams = streamWatch(ports);
  const works: readonly ScheduledWork<WorkName>[] = [
    { name: "start", everySeconds: 1, run: (stopping) => startQueuedTasks(ports, settings, stopping) },
    { name: "settle", everySeconds: 1, run: (stopping) => settleSubmittedTasks(ports, polls, stopping) },
    { name: "check", everySeconds: 1, run: (stopping) => checks.checkGeneratedImages(stopping) },
    { name: "keep", everySeconds: 1, run: (stopping) => keepFinishedImages(ports, keeping, stopping) },
    { name: "sweep", everySeconds: 5, run: (stopping) => sweep(ports, sweeping, stopping) },
    { name: "erase", everySeconds: 5, run: (stopping) => eraseDeletedPanoramas(ports, erasing, stopping) },
    // In a single process the signals are complete.
    ...(settings.processes === "several"
      ? [{ name: "watch", everySeconds: 1, run: () => watchWaitedTasks(ports) } as const]
      : []),
    { name: "deliver", everySeconds: 1, run: (stopping) => delivery.deliver(stopping) },
    { name: "streams", everySeconds: 1, run: () => streams.watchStreams() },
    {
      name: "forget",
      everySeconds: 60,
      offsetSeconds: 45,
      run: (stopping) => forget(ports, operatorLogDays, stopping),
    },
    {
      name: "expire",
      everySeconds: 60,
      offsetSeconds: 30,
      run: (stopping) => deleteExpiredReferences(ports, retention, stopping),
    },
    { name: "uses", everySeconds: 60, offsetSeconds: 45, run: () => keyUses.flush() },
    { name: "clean", everySeconds: 3600, run: () => Promise.all([provider.clean?.(), rateLimits.clean?.()]) },
  ];
  const schedule = ports.schedule(works, (work, error) => reporter.report({ kind: "work_failed", work, error }));
  return {
    start() {
      schedule.start();
    },
    stop(deadlineMilliseconds) {
      return schedule.stop(deadlineMilliseconds);
    },
    wake(work) {
      if (work === "deliver") delivery.claimNow(); // slow receivers make a run last, and the next one would be late
      schedule.wake(work);
    },
  };
}

/** Starts the work that a change of a task makes due. */
export function wakeAfter(task: Task, wake: (work: WorkName) => void, eventSignals: EventSignals): void {
  if (task.state === "generated") wake("check");
  if (task.state === "generated" || !isActive(task)) wake("start"); // its slot at the provider is free
  if (isActive(task)) return;
  wake("deliver"); // its end is an event
  eventSignals.wake(task.accountId);
}

/** Maximum distance of a due time from now, by kind of work: the longest delay or lease. */
function dueWithinMilliseconds({
  leaseMilliseconds,
  submissionDeadlineMilliseconds,
  queueDeadlineMilliseconds,
  pollMillisecondsMax,
}: CompleteSettings): Record<keyof DueWork, number> {
  return {
    giveUp: Math.max(leaseMilliseconds, queueDeadlineMilliseconds),
    sweep: Math.max(leaseMilliseconds, submissionDeadlineMilliseconds),
    settle: Math.max(leaseMilliseconds, pollMillisecondsMax),
    check: Math.max(IMAGE_LEASES * leaseMilliseconds, CHECK_PAUSE_MILLISECONDS),
    keep: Math.max(IMAGE_LEASES * leaseMilliseconds, KEEP_PAUSE_MILLISECONDS_MAX),
    erase: Math.max(IMAGE_LEASES * leaseMilliseconds, ERASE_PAUSE_MILLISECONDS), // first after the lease of a worker
  };
}
