import { ContainerModule } from "inversify";
import { eventBody } from "../../adapters/http/event-body.js";
import { LocalProvider } from "../../adapters/provider/local/local-provider.js";
import { longestPollMilliseconds, POLL_MILLISECONDS } from "../../adapters/provider/remote/calls/poll-delay.js";
import { WorkSchedule } from "../../adapters/scheduling/work-schedule.js";
import { HttpWebhookSender } from "../../adapters/webhooks/http-webhook-sender.js";
import { CHECK_PAUSE_MILLISECONDS, checkGeneratedImages } from "../../application/background/check-generated-images.js";
import { deleteExpiredReferences } from "../../application/background/delete-expired-references.js";
import {
  ERASE_PAUSE_MILLISECONDS,
  eraseDeletedPanoramas,
} from "../../application/background/erase-deleted-panoramas.js";
import { keepFinishedImages } from "../../application/background/keep-finished-images.js";
import { receiveProviderWebhook } from "../../application/background/receive-provider-webhook.js";
import { settleSubmittedTasks } from "../../application/background/settle-submitted-tasks.js";
import { startQueuedTasks } from "../../application/background/start-queued-tasks.js";
import { KEEP_PAUSE_MILLISECONDS_MAX } from "../../application/background/store-panorama.js";
import { sweep } from "../../application/background/sweep.js";
import { watchWaitedTasks } from "../../application/background/watch-waited-tasks.js";
import type { DueWork } from "../../application/ports/task-store.js";
import { deleteOldEvents } from "../../application/webhooks/delete-old-events.js";
import { deliverEvents } from "../../application/webhooks/deliver-events.js";
import { isActive } from "../../domain/task.js";
import type { Config } from "../config.js";
import { provide } from "../provide.js";
import { submissionDeadlineMilliseconds } from "../submission-deadline.js";
import { tokens } from "../tokens.js";

/** Tasks in progress at the same time, per instance and kind of work. */
const POLL_CONCURRENCY = 64; // at one second per answer, about as many polls per second as providers allow
/** Slow downloads take their time limit, so that they delay others by less than a customer notices. */
const CHECK_CONCURRENCY = 8;
const KEEP_CONCURRENCY = 4;
const SWEEP_CONCURRENCY = 16;
const ERASE_CONCURRENCY = 4;
const DELIVERY_CONCURRENCY = 256; // many receivers may be slow at the same time, and waiting for one costs little

/** Longer than an attempt to send a webhook can take. */
const DELIVERY_LEASE_MILLISECONDS = 20_000;

/** A lease for one image is this many times longer, because download, encoding and upload take longer than a poll. */
const IMAGE_LEASES = 3;

/** How far ahead each kind of work can be due: its longest delay, or its lease if that is longer. */
const dueWithinMilliseconds = (config: Config): Record<keyof DueWork, number> => {
  const { leaseMilliseconds, generationDeadlineMilliseconds, provider } = config;
  const polls = provider.kind === "local" ? [] : provider.inOrder;
  return {
    giveUp: Math.max(leaseMilliseconds, generationDeadlineMilliseconds),
    sweep: Math.max(leaseMilliseconds, submissionDeadlineMilliseconds(config)),
    settle: Math.max(
      leaseMilliseconds, // longer than the polls of the local provider
      ...polls.map(({ pollMilliseconds = POLL_MILLISECONDS }) => longestPollMilliseconds(pollMilliseconds)),
    ),
    check: Math.max(IMAGE_LEASES * leaseMilliseconds, CHECK_PAUSE_MILLISECONDS),
    keep: Math.max(IMAGE_LEASES * leaseMilliseconds, KEEP_PAUSE_MILLISECONDS_MAX),
    erase: Math.max(IMAGE_LEASES * leaseMilliseconds, ERASE_PAUSE_MILLISECONDS), // first after the lease of a worker
  };
};

/** The use cases that run in the background, and their schedule. */
export const background = new ContainerModule(({ bind }) => {
  const { config, tasks, references, provider, storage, imaging, clock, ids, signals, reporter } = tokens;

  provide(
    bind,
    tokens.startQueuedTasks,
    { config, tasks, provider, clock, signals, reporter },
    ({ config, ...ports }) =>
      startQueuedTasks(ports, {
        submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config),
        queueDeadlineMilliseconds: config.generationDeadlineMilliseconds,
      }),
  );
  provide(
    bind,
    tokens.settleSubmittedTasks,
    { config, tasks, provider, clock, signals, reporter },
    ({ config: { leaseMilliseconds, generationDeadlineMilliseconds }, ...ports }) =>
      settleSubmittedTasks(ports, { leaseMilliseconds, concurrency: POLL_CONCURRENCY, generationDeadlineMilliseconds }),
  );
  provide(
    bind,
    tokens.checkGeneratedImages,
    { config, tasks, provider, storage, imaging, clock, ids, signals, reporter },
    ({ config: { leaseMilliseconds, generationDeadlineMilliseconds, seamMax }, ...ports }) =>
      checkGeneratedImages(ports, {
        leaseMilliseconds: IMAGE_LEASES * leaseMilliseconds,
        concurrency: CHECK_CONCURRENCY,
        generationDeadlineMilliseconds,
        seamMax,
      }),
  );
  provide(
    bind,
    tokens.keepFinishedImages,
    { config, tasks, provider, storage, imaging, clock, signals, reporter },
    ({ config, ...ports }) =>
      keepFinishedImages(ports, {
        leaseMilliseconds: IMAGE_LEASES * config.leaseMilliseconds,
        concurrency: KEEP_CONCURRENCY,
      }),
  );
  provide(bind, tokens.sweep, { config, tasks, provider, clock, signals, reporter }, ({ config, ...ports }) =>
    sweep(ports, {
      leaseMilliseconds: config.leaseMilliseconds,
      concurrency: SWEEP_CONCURRENCY,
      queueDeadlineMilliseconds: config.generationDeadlineMilliseconds,
      dueWithinMilliseconds: dueWithinMilliseconds(config),
    }),
  );
  provide(
    bind,
    tokens.eraseDeletedPanoramas,
    { config, tasks, provider, storage, clock, reporter },
    ({ config: { leaseMilliseconds }, ...ports }) =>
      eraseDeletedPanoramas(ports, { leaseMilliseconds, concurrency: ERASE_CONCURRENCY }),
  );

  provide(bind, tokens.deleteExpiredReferences, { config, references, storage, clock }, ({ config, ...ports }) =>
    deleteExpiredReferences(ports, {
      retentionMilliseconds: config.referenceRetentionHours * 60 * 60 * 1000,
      leaseMilliseconds: config.leaseMilliseconds,
    }),
  );
  provide(
    bind,
    tokens.webhookSender,
    { config },
    ({ config }) => new HttpWebhookSender(config.webhookPrivateOrigins),
    (sender) => sender.close(),
  );
  provide(
    bind,
    tokens.deliverEvents,
    { config, deliveries: tokens.deliveries, sender: tokens.webhookSender, storage, clock, reporter },
    ({ config: { publicUrl }, storage, ...ports }) =>
      deliverEvents(ports, {
        leaseMilliseconds: DELIVERY_LEASE_MILLISECONDS,
        concurrency: DELIVERY_CONCURRENCY,
        bodyOf: (event, task) => eventBody(event, task, { storage, publicUrl }),
      }),
  );
  provide(bind, tokens.deleteOldEvents, { deliveries: tokens.deliveries, clock }, deleteOldEvents);
  provide(bind, tokens.watchWaitedTasks, { tasks, signals }, watchWaitedTasks);

  provide(
    bind,
    tokens.schedule,
    {
      startQueuedTasks: tokens.startQueuedTasks,
      settleSubmittedTasks: tokens.settleSubmittedTasks,
      checkGeneratedImages: tokens.checkGeneratedImages,
      keepFinishedImages: tokens.keepFinishedImages,
      sweep: tokens.sweep,
      eraseDeletedPanoramas: tokens.eraseDeletedPanoramas,
      deleteExpiredReferences: tokens.deleteExpiredReferences,
      watchWaitedTasks: tokens.watchWaitedTasks,
      deliverEvents: tokens.deliverEvents,
      deleteOldEvents: tokens.deleteOldEvents,
      watchStreams: tokens.watchStreams,
      database: tokens.database,
      provider,
      rateLimits: tokens.rateLimits,
      keyUses: tokens.keyUses,
      signals,
      eventSignals: tokens.eventSignals,
      clock,
      logger: tokens.logger,
      metrics: tokens.metrics,
    },
    ({ database, provider, rateLimits, keyUses, signals, eventSignals, clock, logger, metrics, ...useCases }) => {
      const schedule = new WorkSchedule(
        [
          { name: "start", cron: "* * * * * *", run: useCases.startQueuedTasks },
          { name: "settle", cron: "* * * * * *", run: useCases.settleSubmittedTasks },
          { name: "check", cron: "* * * * * *", run: useCases.checkGeneratedImages },
          { name: "keep", cron: "* * * * * *", run: useCases.keepFinishedImages },
          { name: "sweep", cron: "*/5 * * * * *", run: useCases.sweep },
          { name: "erase", cron: "*/5 * * * * *", run: useCases.eraseDeletedPanoramas },
          // A SQLite file has one instance, whose signals miss nothing.
          ...(database.dialect === "postgresql"
            ? [{ name: "watch", cron: "* * * * * *", run: useCases.watchWaitedTasks } as const]
            : []),
          { name: "deliver", cron: "* * * * * *", run: useCases.deliverEvents },
          { name: "streams", cron: "* * * * * *", run: useCases.watchStreams },
          { name: "forget", cron: "45 * * * * *", run: useCases.deleteOldEvents },
          { name: "expire", cron: "30 * * * * *", run: useCases.deleteExpiredReferences },
          { name: "uses", cron: "45 * * * * *", run: keyUses.flush },
          {
            name: "clean",
            cron: "0 0 * * * *",
            run: () => Promise.all([provider instanceof LocalProvider && provider.clean(), rateLimits.clean?.()]),
          },
        ],
        clock,
        (work, error) => {
          metrics.workFailures.inc({ work });
          logger.error({ event: "work_failed", work, err: error });
        },
      );
      signals.subscribe((task) => {
        if (task.state === "generated") schedule.wake("check");
        if (task.state === "generated" || !isActive(task)) schedule.wake("start"); // its slot at the provider is free
        if (isActive(task)) return;
        schedule.wake("deliver"); // its end is an event
        eventSignals.wake(task.accountId);
      });
      return schedule;
    },
  );

  provide(
    bind,
    tokens.receiveProviderWebhook,
    { webhooks: tokens.providerWebhooks, tasks, clock, schedule: tokens.schedule },
    ({ schedule, ...ports }) => receiveProviderWebhook({ ...ports, pollDue: () => schedule.wake("settle") }),
  );
});
