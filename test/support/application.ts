import { CHECK_PAUSE_MILLISECONDS, checkGeneratedImages } from "../../application/background/check-generated-images.js";
import {
  deleteExpiredReferences,
  ERASE_PAUSE_MILLISECONDS,
  eraseDeletedPanoramas,
} from "../../application/background/erase.js";
import { keepFinishedImages } from "../../application/background/keep-finished-images.js";
import { settleSubmittedTasks } from "../../application/background/settle-submitted-tasks.js";
import { startQueuedTasks } from "../../application/background/start-queued-tasks.js";
import { KEEP_PAUSE_MILLISECONDS_MAX } from "../../application/background/store-panorama.js";
import { sweep } from "../../application/background/sweep.js";
import { watchWaitedTasks } from "../../application/background/watch-changes.js";
import { orders } from "../../application/credits/orders.js";
import { cancelTask } from "../../application/panoramas/cancel-task.js";
import { createPanorama } from "../../application/panoramas/create-panorama.js";
import { deletions } from "../../application/panoramas/deletions.js";
import { type GenerationTime, generationTime } from "../../application/panoramas/generation-time.js";
import { panoramas } from "../../application/panoramas/panoramas.js";
import { progress } from "../../application/panoramas/progress.js";
import type { Clock } from "../../application/ports/clock.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { Ids } from "../../application/ports/ids.js";
import type { Imaging } from "../../application/ports/imaging.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { Secrets } from "../../application/ports/secrets.js";
import type { TaskSignals } from "../../application/ports/signals.js";
import { ensureDefaultEndpoint } from "../../application/webhooks/endpoints.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import type { SqlStores } from "./sql-stores.js";

export type Stores = Omit<SqlStores, "letterOutbox">;

type Ports = Omit<Stores, "sessions" | "links" | "operators" | "operatorLog"> & {
  readonly provider: GenerationProvider;
  readonly storage: ObjectStorage;
  readonly imaging: Imaging;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly signals: TaskSignals;
  readonly generationTime?: GenerationTime;
  readonly reporter: Reporter;
};

export const SUBMISSION_DEADLINE_MILLISECONDS = 60_000;
export const GENERATION_DEADLINE_MILLISECONDS = 600_000;
export const QUEUE_DEADLINE_MILLISECONDS = 300_000;
export const LEASE_MILLISECONDS = 120_000;

export const RETENTION_MILLISECONDS = 24 * 60 * 60 * 1000;

export const RESULT_BOUNDS = { seamMax: 50, seamRatioMax: 8, poleDeviationMax: 60 };

/** Concurrency 2, so that a batch of work needs more than one claim. */
const limits = { leaseMilliseconds: LEASE_MILLISECONDS, concurrency: 2 };

export const CREATION_SETTINGS = {
  policy: PANORAMA_POLICY,
  submissionDeadlineMilliseconds: SUBMISSION_DEADLINE_MILLISECONDS,
  queueDeadlineMilliseconds: QUEUE_DEADLINE_MILLISECONDS,
  queueMax: 1_000,
};

const DUE_WITHIN_MILLISECONDS = {
  giveUp: QUEUE_DEADLINE_MILLISECONDS,
  sweep: LEASE_MILLISECONDS,
  settle: LEASE_MILLISECONDS,
  check: Math.max(LEASE_MILLISECONDS, CHECK_PAUSE_MILLISECONDS),
  keep: KEEP_PAUSE_MILLISECONDS_MAX,
  erase: ERASE_PAUSE_MILLISECONDS,
};

/** The use cases that move tasks and credits, wired as the service wires them. */
export const useCases = (ports: Ports) => {
  const generation = { ...limits, generationDeadlineMilliseconds: GENERATION_DEADLINE_MILLISECONDS };
  const stored = panoramas(ports);
  const poll = settleSubmittedTasks(ports, generation);
  const check = checkGeneratedImages(ports, { ...generation, resultBounds: RESULT_BOUNDS });
  return {
    poll,
    check,
    /** Polls, then checks and stores the results, as the schedule does. Resolves to the number of polls. */
    settle: async (stopping?: AbortSignal): Promise<number> => {
      const polls = await poll(stopping);
      await check(stopping);
      return polls;
    },
    createPanorama: createPanorama(
      { generationTime: generationTime(), ...ports, ensureDefaultEndpoint: ensureDefaultEndpoint(ports) },
      CREATION_SETTINGS,
    ),
    start: startQueuedTasks(ports, CREATION_SETTINGS),
    readTask: stored.read,
    waitForTask: progress({ generationTime: generationTime(), ...ports }).waitFor,
    keep: keepFinishedImages(ports, limits),
    sweep: sweep(ports, { ...limits, ...CREATION_SETTINGS, dueWithinMilliseconds: DUE_WITHIN_MILLISECONDS }),
    erase: eraseDeletedPanoramas(ports, limits),
    deleteExpired: deleteExpiredReferences(ports, {
      retentionMilliseconds: RETENTION_MILLISECONDS,
      leaseMilliseconds: LEASE_MILLISECONDS,
    }),
    watch: watchWaitedTasks(ports),
    cancelTask: cancelTask(ports, generation),
    retryImage: stored.retryImage,
    retryFailedImages: stored.retryFailedImages,
    deletePanorama: deletions(ports).delete,
    createOrder: orders(ports).createOrder,
    payOrder: orders(ports).payOrder,
  };
};

export type UseCases = ReturnType<typeof useCases>;
