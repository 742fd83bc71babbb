import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";

export type CallKind = "creation" | "read";

/** `latest`: when the call may start at the latest, in milliseconds. */
type WaitingCall = { readonly latest: number; readonly resolve: (turn: Result<void, string>) => void };

const CALLS_PER_SECOND_MIN = 0.5;
/** A timer cannot wait for less: calls that became due within this time start together. */
const TIMER_MILLISECONDS = 1;
/** Added after each answer: with steady calls the rate doubles in about half a minute. */
const CALLS_PER_SECOND_STEP = 0.02;

/**
 * Decides when the next call to a provider may start. Calls are spread evenly: at most `callsPerSecond`, and one more to
 * catch up after a delay. Creations go before reads, but never two in a row while a read waits, because a task that is not polled
 * never ends. When the provider is too busy, no call starts until its pause is over; then the rate is half of what it
 * was, and rises a little with every answer.
 */
export class CallRateLimiter {
  private readonly clock: Clock;
  private readonly callsPerSecondMax: number;
  private callsPerSecond: number;
  private nextAt = 0;
  private pausedUntil = 0;
  private waiting: Record<CallKind, WaitingCall[]> = { creation: [], read: [] };
  private serving = false;
  private lastServed: CallKind = "read";
  private latestNow = 0;
  private setBackMilliseconds = 0;

  constructor(clock: Clock, callsPerSecondMax: number) {
    this.clock = clock;
    this.callsPerSecondMax = callsPerSecondMax;
    this.callsPerSecond = callsPerSecondMax;
  }

  /** Milliseconds until the pause is over; 0 if calls are not paused. */
  get pausedMilliseconds(): number {
    return Math.max(0, this.pausedUntil - this.now());
  }

  /**
   * Resolves when the call may start, or with an error if it cannot start within `waitMillisecondsMax`. During a pause
   * it immediately rejects reads, because they are repeated anyway, and creations that cannot wait for its end. The error
   * is a reason for the log.
   */
  turn(kind: CallKind, waitMillisecondsMax: number): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      this.waiting[kind].push({ latest: this.now() + waitMillisecondsMax, resolve });
      if (this.serving) this.rejectTooLate();
      else void this.serve();
    });
  }

  /** Call on each answer that does not ask for a pause. */
  answered(): void {
    this.callsPerSecond = Math.min(this.callsPerSecondMax, this.callsPerSecond + CALLS_PER_SECOND_STEP);
  }

  /** Starts a pause, or extends it: the provider is too busy. */
  pauseFor(milliseconds: number): void {
    // During a pause this is the answer to a call that was in flight before: it must not halve the rate again.
    if (this.pausedMilliseconds === 0) {
      this.callsPerSecond = Math.max(CALLS_PER_SECOND_MIN, this.callsPerSecond / 2);
    }
    this.pausedUntil = Math.max(this.pausedUntil, this.now() + milliseconds);
    this.rejectTooLate();
  }

  /** One loop for all waiting calls; it ends when there are none. */
  private async serve(): Promise<void> {
    this.serving = true;
    for (;;) {
      this.rejectTooLate();
      const { creation, read } = this.waiting;
      if (creation.length + read.length === 0) break;
      const now = this.now();
      const startsAt = Math.max(this.nextAt, this.pausedUntil);
      if (startsAt > now) {
        await this.clock.sleep(Math.ceil(startsAt - now));
        continue;
      }
      const gap = 1000 / this.callsPerSecond;
      this.nextAt = Math.max(this.nextAt, now - Math.max(gap, TIMER_MILLISECONDS)) + gap;
      const creationIsNext = read.length === 0 || (creation.length > 0 && this.lastServed === "read");
      this.lastServed = creationIsNext ? "creation" : "read";
      this.waiting[this.lastServed].shift()?.resolve(ok(undefined));
    }
    this.serving = false;
  }

  /** Rejects the waiting calls that can no longer start in time. */
  private rejectTooLate(): void {
    const now = this.now();
    const paused = this.pausedMilliseconds;
    const reasonToReject = (kind: CallKind, latest: number): string | undefined => {
      if (paused > 0 && (kind === "read" || latest < now + paused)) {
        return `calls to the provider are paused for ${Math.ceil(paused / 1000)} more seconds`;
      }
      return latest < now ? "too many calls to the provider are waiting" : undefined;
    };
    const remaining = (kind: CallKind): WaitingCall[] =>
      this.waiting[kind].filter(({ latest, resolve }) => {
        const reason = reasonToReject(kind, latest);
        if (reason !== undefined) resolve(err(reason));
        return reason === undefined;
      });
    this.waiting = { creation: remaining("creation"), read: remaining("read") };
  }

  /** Never goes back, also when the clock is set back: otherwise all calls would wait for the old time to return. */
  private now(): number {
    const now = this.clock.now().getTime();
    this.setBackMilliseconds = Math.max(this.setBackMilliseconds, this.latestNow - now);
    this.latestNow = now + this.setBackMilliseconds;
    return this.latestNow;
  }
}
