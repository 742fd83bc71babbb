import type { Clock } from "../../application/ports/clock.js";
import type { DueWork } from "../../application/ports/stores/tasks/task-work.js";
import type { PaidOrder } from "../../domain/credits/order.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import type { Metrics } from "./metrics.js";

/** Counts what this instance has committed. Every method is synchronous. */
export class TaskMetrics {
  private readonly metrics: Metrics;
  private readonly clock: Pick<Clock, "now">;

  constructor(metrics: Metrics, clock: Pick<Clock, "now">) {
    this.metrics = metrics;
    this.clock = clock;
  }

  opened({ reservation }: Task): void {
    this.metrics.credits.inc({ kind: "reserved" }, reservation.credits);
  }

  started({ reservedAt }: Task): void {
    // 0 if the clock was set back.
    this.metrics.queueWaitSeconds.observe(Math.max(0, this.clock.now().getTime() - reservedAt.getTime()) / 1000);
  }

  moved(before: Task, next: Task): void {
    if (!isActive(before) || isActive(next)) return;
    const kind = next.state === "succeeded" ? "charged" : "refunded";
    this.metrics.credits.inc({ kind }, next.reservation.credits);
  }

  stale(): void {
    this.metrics.staleWrites.inc();
  }

  claimed(work: keyof DueWork, tasks: number): void {
    this.metrics.leases.inc({ work }, tasks);
  }

  paid({ credits }: PaidOrder): void {
    this.metrics.credits.inc({ kind: "granted" }, credits);
  }
}
