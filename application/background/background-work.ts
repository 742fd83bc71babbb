import { isActive, type Task } from "../../domain/tasks/task.js";
import type { KeyUses, OpenKeys } from "../accounts/api-requests.js";
import type { CompleteSettings } from "../application-settings.js";
import { eventBody } from "../events/panorama-task.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { MakeSchedule, Schedule, ScheduledWork } from "../ports/clock.js";
import type { EventSignals } from "../ports/signals.js";
import type { DueWork } from "../ports/stores/tasks/task-work.js";
import { eventDelivery } from "../webhooks/deliver-events.js";
import { CHECK_PAUSE_MILLISECONDS, resultChecks } from "./check-generated-images.js";
import {
  deleteExpiredReferences,
  ERASE_PAUSE_MILLISECONDS,
  type ErasePorts,
  eraseDeletedPanoramas,
  forget,
} from "./erase.js";
import { pollSubmittedTasks } from "./poll-submitted-tasks.js";
import { recoverTasks } from "./recover-tasks.js";
import { startQueuedTasks } from "./start-queued-tasks.js";
import { storeFinishedImages } from "./store-finished-images.js";
import { STORE_PAUSE_MILLISECONDS_MAX } from "./store-panorama.js";
import { streamWatch, watchWaitedTasks } from "./watch-changes.js";

/** Tasks in progress at the same time, per process and kind of work. */
const POLL_CONCURRENCY = 64; // at one second per answer, about as many polls per second as providers allow
/** 8 concurrent checks: slow downloads end at their time limit, and 8 of the largest results fit into memory. */
const CHECK_CONCURRENCY = 8;
const STORE_CONCURRENCY = 4;
const RECOVERY_CONCURRENCY = 16;
const ERASE_CONCURRENCY = 4;
const DELIVERY_CONCURRENCY = 256; // many receivers may be slow at the same time, and waiting for one costs little

/** Longer than the maximum time of an attempt to send a webhook. */
const DELIVERY_LEASE_MILLISECONDS = 20_000;

/** Factor for the leases of images: download, encoding and upload take longer than a poll. */
const IMAGE_LEASES = 3;

type BackgroundPorts = ErasePorts &
  Pick<ApplicationPorts, "events" | "rateLimits" | "webhookSender" | "eventSignals"> & {
    readonly keyUses: KeyUses;
    readonly openKeys: OpenKeys;
    readonly schedule: MakeSchedule;
  };

/** The kinds of work, as the log and the metrics name them. */
export type WorkName =
  | "start"
  | "poll"
  | "check"
  | "store"
  | "recover"
  | "erase"
  | "wake_waits"
  | "deliver"
  | "wake_streams"
  | "delete_old_rows"
  | "delete_references"
  | "write_key_uses"
  | "clean_up";

/** The background work of the application, with its times and limits. */
export function backgroundWork(ports: BackgroundPorts, settings: CompleteSettings): Schedule<WorkName> {
  const { provider, storage, rateLimits, keyUses, reporter } = ports;
  const { leaseMilliseconds, generationDeadlineMilliseconds, referenceRetentionHours, operatorLogDays } = settings;
  const polls = { leaseMilliseconds, concurrency: POLL_CONCURRENCY, generationDeadlineMilliseconds };
  const imageLease = { leaseMilliseconds: IMAGE_LEASES * leaseMilliseconds };
  const storing = { ...imageLease, concurrency: STORE_CONCURRENCY };
  const dueWithin = dueWithinMilliseconds(settings);
  const recovering = { ...settings, concurrency: RECOVERY_CONCURRENCY, dueWithinMilliseconds: dueWithin };
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
    { name: "poll", everySeconds: 1, run: (stopping) => pollSubmittedTasks(ports, polls, stopping) },
    { name: "check", everySeconds: 1, run: (stopping) => checks.checkGeneratedImages(stopping) },
    { name: "store", everySeconds: 1, run: (stopping) => storeFinishedImages(ports, storing, stopping) },
    { name: "recover", everySeconds: 5, run: (stopping) => recoverTasks(ports, recovering, stopping) },
    { name: "erase", everySeconds: 5, run: (stopping) => eraseDeletedPanoramas(ports, erasing, stopping) },
    // In a single process the signals are complete.
    ...(settings.processes === "several"
      ? [{ name: "wake_waits", everySeconds: 1, run: () => watchWaitedTasks(ports) } as const]
      : []),
    { name: "deliver", everySeconds: 1, run: (stopping) => delivery.deliver(stopping) },
    { name: "wake_streams", everySeconds: 1, run: () => streams.watchStreams() },
    {
      name: "delete_old_rows",
      everySeconds: 60,
      offsetSeconds: 45,
      run: (stopping) => forget(ports, operatorLogDays, stopping),
    },
    {
      name: "delete_references",
      everySeconds: 60,
      offsetSeconds: 30,
      run: (stopping) => deleteExpiredReferences(ports, retention, stopping),
    },
    { name: "write_key_uses", everySeconds: 60, offsetSeconds: 45, run: () => keyUses.flush() },
    { name: "clean_up", everySeconds: 3600, run: () => Promise.all([provider.clean?.(), rateLimits.clean?.()]) },
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
    recover: Math.max(leaseMilliseconds, submissionDeadlineMilliseconds),
    poll: Math.max(leaseMilliseconds, pollMillisecondsMax),
    check: Math.max(IMAGE_LEASES * leaseMilliseconds, CHECK_PAUSE_MILLISECONDS),
    store: Math.max(IMAGE_LEASES * leaseMilliseconds, STORE_PAUSE_MILLISECONDS_MAX),
    erase: Math.max(IMAGE_LEASES * leaseMilliseconds, ERASE_PAUSE_MILLISECONDS), // first after the lease of a worker
  };
}
