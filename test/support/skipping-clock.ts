import type { Clock } from "../../application/ports/clock.js";

/**
 * A clock for calls over real sockets that does not wait for real time. A short sleep (a pause between attempts) ends
 * immediately; a long one (a timeout) ends when `stuck` resolves, that is when no answer will arrive any more. The time
 * moves as if slept.
 */
export class SkippingClock implements Clock {
  readonly pauses: number[] = [];
  private milliseconds = Date.parse("2026-01-01T12:00:00.000Z");
  private readonly timeoutMilliseconds: number;
  private readonly stuck: (signal?: AbortSignal) => Promise<void>;

  constructor(stuck: (signal?: AbortSignal) => Promise<void>, timeoutMilliseconds = 5_000) {
    this.stuck = stuck;
    this.timeoutMilliseconds = timeoutMilliseconds;
  }

  now(): Date {
    return new Date(this.milliseconds);
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds >= this.timeoutMilliseconds) {
      const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      await Promise.race([this.stuck(signal), aborted]);
    } else {
      this.pauses.push(milliseconds);
    }
    if (!signal?.aborted) this.milliseconds += milliseconds;
  }
}
