import type { Clock } from "../ports/clock.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Reporter } from "../ports/reporter.js";
import type { ReferenceStore } from "../ports/stores/reference-store.js";

type Ports = {
  readonly references: Pick<ReferenceStore, "expire" | "claimDeletable" | "forget">;
  readonly storage: Pick<ObjectStorage, "delete">;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** How long unused reference images are kept, and when a deletion is repeated. */
export type ReferenceRetention = {
  /** How long an unused uploaded image is kept. */
  readonly retentionMilliseconds: number;
  /** After this time another attempt may delete an object, if the first one failed or its instance was killed. */
  readonly leaseMilliseconds: number;
};

/** Names handled with one statement. */
const BATCH = 100;

/**
 * Deletes the uploaded images that have expired unused, and those whose last task was deleted. Safe on any number of
 * instances and at any interruption: nothing can refer to a deletable name any more (ports/reference-store.ts), so an
 * object may be deleted twice or late. Resolves to the number of deleted objects.
 */
export const deleteExpiredReferences =
  ({ references, storage, clock, reporter }: Ports, { retentionMilliseconds, leaseMilliseconds }: ReferenceRetention) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const isStopping = () => stopping?.aborted === true;
    const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
    let looked = BATCH;
    while (looked === BATCH && !isStopping()) {
      looked = await references.expire(after(-retentionMilliseconds), clock.now(), BATCH);
    }
    let deleted = 0;
    let claimed = BATCH;
    while (claimed === BATCH && !isStopping()) {
      const names = await references.claimDeletable(clock.now(), after(leaseMilliseconds), BATCH);
      claimed = names.length;
      for (const name of names) {
        if (isStopping()) break;
        if ((await storage.delete(name)).isErr()) continue; // tried again after the lease
        await references.forget(name);
        deleted += 1;
      }
    }
    if (deleted > 0) reporter.report({ kind: "images_expired", count: deleted });
    return deleted;
  };
