import type { Amount, RetentionStore } from "../../../application/ports/stores/retention-store.js";
import type { Retained, Retention } from "../../../domain/images/retention.js";
import { isKept } from "../../../domain/images/storage-status.js";
import type { MemoryDatabase } from "./memory-database.js";

/** The retentions in memory. */
export class MemoryRetentionStore implements RetentionStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async find(retained: Retained): Promise<Retention | undefined> {
    return this.database.retentions.get(retained);
  }

  async change(retained: Retained, decide: (stored: Retention | undefined) => Retention): Promise<Retention> {
    const next = decide(this.database.retentions.get(retained));
    this.database.retentions.set(retained, next);
    return next;
  }

  async olderThan(retained: Retained, before: Date): Promise<Amount> {
    const times = (retained === "finished_images" ? this.successes() : this.uploads())
      .filter((at) => at < before && at.getTime() > 0)
      .sort((a, b) => a.getTime() - b.getTime());
    return { count: times.length, oldest: times[0], newest: times.at(-1) };
  }

  private successes(): Date[] {
    return [...this.database.tasks.values()].flatMap(({ task, hidden }) =>
      task.state === "succeeded" && !hidden && isKept(task.image) ? [task.succeededAt] : [],
    );
  }

  private uploads(): Date[] {
    return this.database.uploads.map(({ uploadedAt }) => uploadedAt);
  }
}
