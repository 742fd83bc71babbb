import type { Clock } from "../../application/ports/clock.js";

type Sleep = { wakesAt: number; readonly wake: () => void };

/** A clock that moves only when a test advances it, so that no test waits for real time. */
export class HandClock implements Clock {
  private milliseconds: number;
  private readonly sleeps = new Set<Sleep>();
  private isIdle = (): boolean => true;

  constructor(start: Date = new Date("2026-01-01T12:00:00.000Z")) {
    this.milliseconds = start.getTime();
  }

  now(): Date {
    return new Date(this.milliseconds);
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.sleeps.size;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || milliseconds <= 0) return resolve();
      const wake = () => {
        this.sleeps.delete(sleep);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleep: Sleep = { wakesAt: this.milliseconds + milliseconds, wake };
      this.sleeps.add(sleep);
      signal?.addEventListener("abort", wake);
    });
  }

  /** `settled` waits until this is true, too: for stores whose work takes several turns of the event loop. */
  waitFor(isIdle: () => boolean): void {
    this.isIdle = isIdle;
  }

  /** Resolves when everything has run that waits for neither a sleep nor something outside this process. */
  async settled(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (!this.isIdle());
  }

  /**
   * Advances the clock. Every sleep that becomes due ends at its own time and in order, and the code after it runs
   * before the next sleep ends. A loop that sleeps again is woken again if that sleep is due as well.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.milliseconds + milliseconds;
    await this.settled();
    for (let next = this.earliest(); next !== undefined && next.wakesAt <= end; next = this.earliest()) {
      this.milliseconds = Math.max(this.milliseconds, next.wakesAt);
      next.wake();
      await this.settled();
    }
    // A concurrent `advance` may have set a later time.
    this.milliseconds = Math.max(this.milliseconds, end);
  }

  /** Sets the clock back, as a time service may do. Pending sleeps do not become longer. */
  setBack(milliseconds: number): void {
    this.milliseconds -= milliseconds;
    for (const sleep of this.sleeps) sleep.wakesAt -= milliseconds;
  }

  private earliest(): Sleep | undefined {
    let earliest: Sleep | undefined;
    for (const sleep of this.sleeps) {
      if (earliest === undefined || sleep.wakesAt < earliest.wakesAt) earliest = sleep;
    }
    return earliest;
  }
}
