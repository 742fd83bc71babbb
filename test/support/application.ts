import { CHECK_PAUSE_MILLISECONDS, resultChecks } from "../../application/background/check-generated-images.js";
import {
  deleteExpiredReferences,
  ERASE_PAUSE_MILLISECONDS,
  eraseDeletedPanoramas,
} from "../../application/background/erase.js";
import { pollSubmittedTasks } from "../../application/background/poll-submitted-tasks.js";
import { recoverTasks } from "../../application/background/recover-tasks.js";
import { startQueuedTasks } from "../../application/background/start-queued-tasks.js";
import { storeFinishedImages } from "../../application/background/store-finished-images.js";
import { STORE_PAUSE_MILLISECONDS_MAX } from "../../application/background/store-panorama.js";
import { watchWaitedTasks } from "../../application/background/watch-changes.js";
import { orders } from "../../application/credits/orders.js";
import { cancellations } from "../../application/panoramas/cancellations.js";
import { creations } from "../../application/panoramas/creations.js";
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
import { ensureDefaultEndpoint } from "../../application/webhooks/webhooks.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import type { SqlStores } from "./sql-stores.js";

export type Stores = Omit<SqlStores, "emailOutbox">;

type Ports = Omit<Stores, "sessions" | "links"> & {
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
  recover: LEASE_MILLISECONDS,
  poll: LEASE_MILLISECONDS,
  check: Math.max(LEASE_MILLISECONDS, CHECK_PAUSE_MILLISECONDS),
  store: STORE_PAUSE_MILLISECONDS_MAX,
  erase: ERASE_PAUSE_MILLISECONDS,
};

/** The use cases that move tasks and credits, wired as the service wires them. */
export const useCases = (ports: Ports) => {
  const generation = { ...limits, generationDeadlineMilliseconds: GENERATION_DEADLINE_MILLISECONDS };
  const stored = panoramas(ports);
  const poll = (stopping?: AbortSignal) => pollSubmittedTasks(ports, generation, stopping);
  const check = resultChecks(ports, { ...generation, resultBounds: RESULT_BOUNDS }).checkGeneratedImages;
  const recovering = { ...limits, ...CREATION_SETTINGS, dueWithinMilliseconds: DUE_WITHIN_MILLISECONDS };
  const retention = { retentionMilliseconds: RETENTION_MILLISECONDS, leaseMilliseconds: LEASE_MILLISECONDS };
  return {
    poll,
    check,
    /** Polls, then checks and stores the results, as the schedule does. Resolves to the number of polls. */
    settle: async (stopping?: AbortSignal): Promise<number> => {
      const polls = await poll(stopping);
      await check(stopping);
      return polls;
    },
    createPanorama: creations(
      {
        generationTime: generationTime(),
        ...ports,
        ensureDefaultEndpoint: (account) => ensureDefaultEndpoint(ports, account),
      },
      CREATION_SETTINGS,
    ).create,
    start: (stopping?: AbortSignal) => startQueuedTasks(ports, CREATION_SETTINGS, stopping),
    readTask: stored.read,
    waitForTask: progress({ generationTime: generationTime(), ...ports }).waitFor,
    store: (stopping?: AbortSignal) => storeFinishedImages(ports, limits, stopping),
    recover: (stopping?: AbortSignal) => recoverTasks(ports, recovering, stopping),
    erase: (stopping?: AbortSignal) => eraseDeletedPanoramas(ports, limits, stopping),
    deleteExpired: (stopping?: AbortSignal) => deleteExpiredReferences(ports, retention, stopping),
    watch: () => watchWaitedTasks(ports),
    cancelTask: cancellations(ports, generation).cancel,
    retryImage: stored.retryImage,
    retryFailedImages: stored.retryFailedImages,
    deletePanorama: deletions(ports).delete,
    createOrder: orders(ports).createOrder,
    payOrder: orders(ports).payOrder,
  };
};

export type UseCases = ReturnType<typeof useCases>;
