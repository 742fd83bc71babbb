import { objectsOf } from "../../domain/images/storage-status.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Lease, TaskStore } from "../ports/stores/tasks/task-store.js";
import { type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move">;
  readonly provider: Pick<GenerationProvider, "discard">;
  readonly storage: Pick<ObjectStorage, "delete">;
};

/** Between two attempts. */
export const ERASE_PAUSE_MILLISECONDS = 10 * 60 * 1000;
/** After this time a provider's temporary copy is rarely left, so its deletion is tried once only. */
const COPY_KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Deletes the objects that a worker stored while their panorama was deleted, and those of closed accounts. Also deletes
 * the provider's own copy of all of them. The owner does not wait for it. Resolves to the number of panoramas.
 */
export const eraseDeletedPanoramas =
  (ports: Ports, limits: WorkLimits) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "erase", { ...limits, stopping }, (lease) => erase(ports, lease));

/** Returns the time of the next attempt, if there is one. */
const erase = async (ports: Ports, lease: Lease<SucceededTask>): Promise<Date | undefined> => {
  const { tasks, clock } = ports;
  const { task } = lease;
  const objectsAreLeft = !(await eraseObjects(ports, task));
  const copyIsLeft = !(await eraseCopy(ports, task));
  const now = clock.now().getTime();
  const copyMayBeThere = now - task.succeededAt.getTime() < COPY_KEPT_MILLISECONDS;
  if (objectsAreLeft || (copyIsLeft && copyMayBeThere)) return new Date(now + ERASE_PAUSE_MILLISECONDS);
  await tasks.move(lease, task, undefined);
  return undefined;
};

/** Whether no object is left. */
const eraseObjects = async ({ storage, reporter }: Ports, { id, image }: SucceededTask): Promise<boolean> => {
  for (const name of objectsOf(image)) {
    const deleted = await storage.delete(name);
    if (deleted.isOk()) continue;
    reporter.report({ kind: "work_failed", work: "erase", taskId: id, error: deleted.error.reason });
    return false;
  }
  return true;
};

const eraseCopy = async ({ provider, reporter }: Ports, { id, upstreamTaskId }: SucceededTask): Promise<boolean> => {
  const discarded = await provider.discard?.(upstreamTaskId);
  if (discarded === undefined || discarded.isOk()) return true;
  const detail = `the copy of a deleted image is not deleted: ${discarded.error.reason}`;
  reporter.report({ kind: "provider_unavailable", taskId: id, detail });
  return false;
};
