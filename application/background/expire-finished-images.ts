import { expire, isKept } from "../../domain/images/storage-status.js";
import { withImage } from "../../domain/tasks/task.js";
import type { Clock } from "../ports/clock.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "move"> & Pick<TaskLists, "listKeptImages">;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** How long finished images are kept. */
export type ImageRetention = {
  /** From the success of the task. */
  readonly retentionMilliseconds: number;
  /** Longer than a worker may still store an object of the task. */
  readonly leaseMilliseconds: number;
};

/** Tasks read with one statement. */
const BATCH = 100;

/**
 * Expires the finished images whose retention is over; the credits stay spent. Safe on any number of instances: each
 * image is moved by one of them. The objects are deleted afterwards (erase-deleted-panoramas.ts), when no lease of an
 * earlier worker can be left: so an interruption leaves no object without a row that is due. Resolves to the number of
 * images.
 */
export const expireFinishedImages =
  ({ tasks, clock, reporter }: Ports, { retentionMilliseconds, leaseMilliseconds }: ImageRetention) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const isStopping = () => stopping?.aborted === true;
    const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
    const expired: Date[] = [];
    for (let read = BATCH; read === BATCH && !isStopping(); ) {
      const kept = await tasks.listKeptImages(after(-retentionMilliseconds), BATCH);
      read = kept.length;
      for (const task of kept) {
        if (isStopping()) break;
        if (!isKept(task.image)) continue;
        const moved = await tasks.move(task, withImage(task, expire(task.image)), after(leaseMilliseconds));
        if (moved.isOk()) expired.push(task.succeededAt); // if it is stale, another worker has moved it
      }
    }
    if (expired.length > 0) {
      const [oldest, newest] = [expired[0], expired.at(-1)];
      reporter.report({ kind: "images_expired", retained: "finished_images", count: expired.length, oldest, newest });
    }
    return expired.length;
  };
