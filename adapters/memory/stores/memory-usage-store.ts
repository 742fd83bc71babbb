import type { UsageLine, UsagePart, UsageQuery, UsageStore } from "../../../application/ports/stores/usage-store.js";
import { isActive, placeOf, type Task } from "../../../domain/tasks/task.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Usage in memory. */
export class MemoryUsageStore implements UsageStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async usage({ from, to, by }: UsageQuery): Promise<UsageLine[]> {
    const lines = new Map<string, UsageLine>();
    for (const { task } of this.database.tasks.values()) {
      if (task.reservedAt < from || task.reservedAt >= to) continue;
      const line = lineOf(task, by);
      const name = JSON.stringify([line.part, line.currency]);
      lines.set(name, joined(lines.get(name), line));
    }
    return [...lines.values()];
  }
}

const PART_OF: Readonly<Record<UsagePart, (task: Task) => string | undefined>> = {
  day: ({ reservedAt }) => reservedAt.toISOString().slice(0, 10),
  account: ({ accountId }) => accountId,
  key: ({ apiKeyId }) => apiKeyId,
  resolution: ({ request }) => request.resolution,
  provider: placeOf,
};

const lineOf = (task: Task, by: UsagePart | undefined): UsageLine => {
  const { credits } = task.reservation;
  const cost = "cost" in task ? task.cost : undefined;
  const [succeeded, failed, active] = [task.state === "succeeded", task.state === "failed", isActive(task)];
  return {
    part: by && PART_OF[by](task),
    succeeded: Number(succeeded),
    failed: Number(failed),
    active: Number(active),
    charged: succeeded ? credits : 0,
    refunded: failed ? credits : 0,
    held: active ? credits : 0,
    currency: cost?.currency,
    micros: cost?.micros ?? 0,
  };
};

const joined = (one: UsageLine | undefined, other: UsageLine): UsageLine =>
  one === undefined
    ? other
    : {
        ...one,
        succeeded: one.succeeded + other.succeeded,
        failed: one.failed + other.failed,
        active: one.active + other.active,
        charged: one.charged + other.charged,
        refunded: one.refunded + other.refunded,
        held: one.held + other.held,
        micros: one.micros + other.micros,
      };
