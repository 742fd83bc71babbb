import type { Clock } from "../../../../application/ports/clock.js";

const GRACE_MILLISECONDS = 60_000;
const KEPT_MILLISECONDS = 60 * 60 * 1000;

/**
 * For answers that may come too early: a task that is not found just after its creation, a success without an image.
 * Such an answer is final after 60 seconds without any other answer.
 */
export class GracePeriod {
  private readonly clock: Clock;
  private readonly since = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Call on every such answer. Returns whether the first one is at least 60 seconds old. */
  hasPassed(upstreamTaskId: string): boolean {
    const now = this.clock.now().getTime();
    const first = this.since.get(upstreamTaskId);
    if (first !== undefined) return now - first >= GRACE_MILLISECONDS;
    for (const [id, since] of this.since) if (now - since > KEPT_MILLISECONDS) this.since.delete(id);
    this.since.set(upstreamTaskId, now);
    return false;
  }

  /** Call on every other answer. */
  reset(upstreamTaskId: string): void {
    this.since.delete(upstreamTaskId);
  }
}
