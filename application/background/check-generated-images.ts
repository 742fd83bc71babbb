import { panoramaName } from "../../domain/images/object-name.js";
import { figuresOf, type ResultBounds, unusableReasonOf } from "../../domain/images/picture.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { type GeneratedTask, type SucceededTask, succeed, withFigures } from "../../domain/tasks/task.js";
import { announceStored, type Failure, failTask } from "../panoramas/end-task.js";
import { type GeneratedImage, sourceTypeOf } from "../ports/generation-provider.js";
import type { EncodedPanorama } from "../ports/imaging.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import { attemptBeforeDeadline, type DeadlineSettings, type NoProgress } from "./generation-deadline.js";
import { recordAttempt, type StorageProbe, storageProbe } from "./store-panorama.js";
import { type TaskWorkPorts, workOnLeases } from "./work-on-leases.js";

type CheckSettings = DeadlineSettings & {
  /** Larger figures make a result unusable. */
  readonly resultBounds: ResultBounds;
};

/** Pause between two download attempts. */
export const CHECK_PAUSE_MILLISECONDS = 5_000;

/** Background work that checks the results of generations. */
export function resultChecks(ports: TaskWorkPorts, settings: CheckSettings) {
  // While the storage is down, only one check at a time waits for it, so that other results are not late.
  const probe = storageProbe(ports);
  return {
    /**
     * Downloads and checks the result of every generation that is due. A task with a usable picture succeeds, and the
     * same bytes are stored at once; if storing fails, store-finished-images.ts downloads them again. An unusable
     * result, or one that can never be downloaded, fails the task with a refund. Other failed downloads are repeated
     * until the generation deadline. Resolves to the number of results.
     */
    checkGeneratedImages(stopping?: AbortSignal): Promise<number> {
      return workOnLeases(ports, "check", { ...settings, stopping }, (claimed) =>
        attemptBeforeDeadline<GeneratedTask>(ports, settings, claimed, {
          work: "check",
          attempt: (lease) => checkResult(ports, settings, probe, lease),
        }),
      );
    },
  };
}

async function checkResult(
  ports: TaskWorkPorts,
  settings: CheckSettings,
  probe: StorageProbe,
  lease: Lease<GeneratedTask>,
): Promise<NoProgress | undefined> {
  const examined = await examine(ports, settings, lease);
  if (examined.kind === "not_yet") return examined;
  if (examined.kind === "failed") {
    await failTask(ports, examined.lease, examined.failure);
    return undefined;
  }
  const { panorama, downloaded } = examined;
  const succeeded = await recordSuccess(ports, examined.lease, panorama, settings.leaseMilliseconds);
  if (succeeded !== undefined) await storeResult(ports, probe, succeeded, { bytes: panorama.bytes, downloaded });
  return undefined;
}

/** Outcome of a check. `lease`: includes the figures, once measured. */
type Examined =
  | {
      readonly kind: "usable";
      readonly lease: Lease<GeneratedTask>;
      readonly panorama: EncodedPanorama;
      readonly downloaded: GeneratedImage;
    }
  | { readonly kind: "failed"; readonly lease: Lease<GeneratedTask>; readonly failure: Failure }
  | (NoProgress & { readonly kind: "not_yet" });

/** Downloads and measures a result. Stores nothing. */
async function examine(ports: TaskWorkPorts, settings: CheckSettings, lease: Lease<GeneratedTask>): Promise<Examined> {
  const { provider, imaging, reporter } = ports;
  const { task } = lease;
  const downloaded = await provider.download(task.temporaryUrl, task.upstreamTaskId);
  if (downloaded.isErr()) {
    const { kind, reason } = downloaded.error;
    if (kind !== "provider_unavailable") return unusable(lease, reason);
    reporter.report({ kind: "provider_unavailable", taskId: task.id, detail: reason });
    return { kind: "not_yet", detail: "the result cannot be downloaded", pauseMilliseconds: CHECK_PAUSE_MILLISECONDS };
  }
  const sourceType = sourceTypeOf(downloaded.value, task.request);
  const panorama = await imaging.panorama(downloaded.value.bytes, RESOLUTIONS[task.request.resolution], sourceType);
  if (panorama.isErr()) return unusable(lease, panorama.error.reason);
  const measured = measure(ports, lease, panorama.value);
  const flaw = unusableReasonOf(panorama.value, settings.resultBounds);
  if (flaw !== undefined) return unusable(measured, flaw);
  const sourced = { ...measured, task: { ...measured.task, sourceType } };
  return { kind: "usable", lease: sourced, panorama: panorama.value, downloaded: downloaded.value };
}

function unusable(lease: Lease<GeneratedTask>, reason: string): Examined {
  return {
    kind: "failed",
    lease,
    failure: { reason: "unusable_result", detail: `the result is unusable: ${reason}` },
  };
}

/** Reports the figures of the picture, and writes them into the task. */
function measure(
  { reporter }: TaskWorkPorts,
  lease: Lease<GeneratedTask>,
  panorama: EncodedPanorama,
): Lease<GeneratedTask> {
  const { task } = lease;
  const figures = figuresOf(panorama);
  const { nativeSize } = panorama;
  reporter.report({ kind: "picture_measured", taskId: task.id, provider: task.place, nativeSize, ...figures });
  return { ...lease, task: withFigures(task, figures) };
}

/** Continues the lease for the maximum time of storing. Resolves to `undefined` if another worker has it now. */
async function recordSuccess(
  ports: TaskWorkPorts,
  lease: Lease<GeneratedTask>,
  { nativeSize }: EncodedPanorama,
  leaseMilliseconds: number,
): Promise<Lease<SucceededTask> | undefined> {
  const { tasks, ids, clock, reporter, signals } = ports;
  const now = clock.now();
  const task = succeed(lease.task, panoramaName(ids.unguessable()), nativeSize, now);
  const until = new Date(now.getTime() + leaseMilliseconds);
  const stored = await announceStored(signals, task, tasks.moveWithinLease(lease, task, until));
  if (stored.isErr()) return undefined;
  const seconds = (now.getTime() - task.reservedAt.getTime()) / 1000;
  reporter.report({ kind: "task_succeeded", taskId: task.id, provider: task.place, seconds });
  return { ...lease, task };
}

/** Reports an error instead of throwing it: the task has succeeded, and its image is due again. */
async function storeResult(
  ports: TaskWorkPorts,
  probe: StorageProbe,
  lease: Lease<SucceededTask>,
  { bytes, downloaded }: { readonly bytes: Uint8Array; readonly downloaded: GeneratedImage },
): Promise<void> {
  const { image } = lease.task;
  if (image.status !== "uploading") return;
  try {
    await recordAttempt(ports, lease, probe.store({ task: lease.task, image }, bytes, downloaded));
  } catch (error) {
    ports.reporter.report({ kind: "work_failed", work: "check", taskId: lease.task.id, error });
  }
}
