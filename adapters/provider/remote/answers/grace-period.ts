import type { Clock } from "../../../../application/ports/clock.js";
import type { Progress } from "../../../../application/ports/generation-provider.js";

const PATIENCE_MILLISECONDS = 60_000;
const FORGOTTEN_MILLISECONDS = 60 * 60 * 1000;

/**
 * Answers that may only be early: a task that cannot be found just after its creation, a success without its image.
 * They are believed once they have been the same for 60 seconds.
 */
export class GracePeriod {
  private readonly clock: Clock;
  private readonly since = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Notes such an answer; whether it has lasted long enough to be believed. */
  believed(upstreamTaskId: string): boolean {
    const now = this.clock.now().getTime();
    const first = this.since.get(upstreamTaskId);
    if (first !== undefined) return now - first >= PATIENCE_MILLISECONDS;
    for (const [id, since] of this.since) if (now - since > FORGOTTEN_MILLISECONDS) this.since.delete(id);
    this.since.set(upstreamTaskId, now);
    return false;
  }

  /** What such an answer means: the task is running, until the answer is believed; then it has failed. */
  progressAfter(upstreamTaskId: string, reason: string): Progress {
    return this.believed(upstreamTaskId) ? { state: "failed", reason } : { state: "running" };
  }

  /** There was a clear answer. */
  settle(upstreamTaskId: string): void {
    this.since.delete(upstreamTaskId);
  }
}
