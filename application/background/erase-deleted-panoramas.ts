import { isKept, type KeptImage, objectsOf, type StoredImage } from "../../domain/images/storage-status.js";
import { type SucceededTask, withImage } from "../../domain/tasks/task.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Lease, TaskStore } from "../ports/stores/tasks/task-store.js";
import type { TaskWork } from "../ports/stores/tasks/task-work.js";
import { renameFiles } from "./rename-files.js";
import { deleteIfUnwanted } from "./store-panorama.js";
import { type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

/** The most panoramas of one run. The next run takes the next ones. */
const ENDED_PER_RUN = 1_000;

/** Ends the keeping of deleted panoramas whose time is over: they are erased next. Resolves to their number. */
export const endKeeping =
  ({ tasks, clock }: { readonly tasks: Pick<TaskWork, "endKeeping">; readonly clock: Pick<Clock, "now"> }) =>
  (): Promise<number> =>
    tasks.endKeeping(clock.now(), ENDED_PER_RUN);

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move" | "wantedImage">;
  readonly provider: Pick<GenerationProvider, "discard">;
  readonly storage: Pick<ObjectStorage, "put" | "read" | "delete">;
};

/** Between two attempts. */
export const ERASE_PAUSE_MILLISECONDS = 10 * 60 * 1000;
/** After this time a provider's temporary copy is rarely left, so its deletion is tried once only. */
const COPY_KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Deletes the objects of expired images, and objects that a worker stored while their panorama was deleted; gives those
 * that are kept another name (delete-panorama.ts). Also deletes the provider's own copy of all of them. The owner does
 * not wait for it. Resolves to the number of panoramas.
 */
export const eraseDeletedPanoramas =
  (ports: Ports, limits: WorkLimits) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "erase", { ...limits, stopping }, (lease) => erase(ports, lease));

/** Returns the time of the next attempt, if there is one. */
const erase = async (ports: Ports, lease: Lease<SucceededTask>): Promise<Date | undefined> => {
  const { tasks, clock } = ports;
  const { task } = lease;
  const { image } = task;
  const isKeptForNow = isKept(image) && image.keptUntil !== undefined;
  const left = isKeptForNow ? await putAway(ports, task, image) : await eraseObjects(ports, task);
  const copyIsLeft = !(await eraseCopy(ports, task));
  const now = clock.now().getTime();
  const copyMayBeThere = now - task.succeededAt.getTime() < COPY_KEPT_MILLISECONDS;
  if (left === undefined || (copyIsLeft && copyMayBeThere)) return new Date(now + ERASE_PAUSE_MILLISECONDS);
  const moved = await tasks.move(lease, withImage(task, left), undefined);
  // Another worker does the same. This one may have stored files under the next name after the other has erased them.
  if (moved.isErr() && isKeptForNow) await deleteIfUnwanted(ports, task);
  return undefined;
};

/** Whoever knows the names of the files finds nothing there any more. `undefined` if it is not done. */
const putAway = async (ports: Ports, task: SucceededTask, image: KeptImage): Promise<KeptImage | undefined> => {
  if (image.nextName === undefined) return image;
  const renamed = (await renameFiles(ports, task, image, image.nextName)).image;
  return isKept(renamed) && renamed.nextName === undefined ? renamed : undefined;
};

/** `undefined` if objects are left. */
const eraseObjects = async (
  { storage, reporter }: Ports,
  { id, image }: SucceededTask,
): Promise<StoredImage | undefined> => {
  for (const name of objectsOf(image)) {
    const deleted = await storage.delete(name);
    if (deleted.isOk()) continue;
    reporter.report({ kind: "work_failed", work: "erase", taskId: id, error: deleted.error.reason });
    return undefined;
  }
  return image;
};

const eraseCopy = async ({ provider, reporter }: Ports, { id, upstreamTaskId }: SucceededTask): Promise<boolean> => {
  const discarded = await provider.discard?.(upstreamTaskId);
  if (discarded === undefined || discarded.isOk()) return true;
  const detail = `the copy of a deleted image is not deleted: ${discarded.error.reason}`;
  reporter.report({ kind: "provider_unavailable", taskId: id, detail });
  return false;
};
