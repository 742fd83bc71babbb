import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";

export type CallKind = "creation" | "read";

/** `latest`: when the call may start at the latest, in milliseconds. */
type WaitingCall = { readonly latest: number; readonly resolve: (slot: Result<void, string>) => void };

/** A timer cannot wait for less: calls that became due within this time start together. */
const TIMER_MILLISECONDS = 1;
/** A rising rate is computed again after this time. */
const SLEEP_MILLISECONDS_MAX = 1_000;
/** Factor of the rate after a pause. */
const DECREASE_FACTOR = 0.7;
/** Part of the maximum rate below which it does not fall. */
const RATE_SHARE_MIN = 1 / 50;
/** From the end of the last pause until the rate is at its maximum again. */
const RECOVERY_MILLISECONDS = 30_000;
/**
 * The rate rises with this power of the time: slowly at first, so that a provider whose limit is lower than ours
 * refuses few calls, and faster the longer nothing is refused.
 */
const RECOVERY_POWER = 4;
const REFUSED_CREATIONS_IN_A_ROW = 3;

/**
 * Decides when the next call to a provider may start. Calls are spread evenly: at most `callsPerSecondMax` in any
 * second. Creations go before reads, but never two in a row while a read waits, because a task that is not polled never
 * ends.
 *
 * When the provider is too busy for a read, no call starts until its pause is over. Then calls are slower, and back at
 * the maximum 30 seconds later. A refused creation says less: a provider also refuses creations while it runs as many
 * generations as it can, whatever the rate of calls. Only that creation has to wait; three refusals in a row cause a
 * pause.
 */
export class CallRateLimiter {
  private readonly clock: Clock;
  private readonly callsPerSecondMax: number;
  /** Right after the last pause, as a part of `callsPerSecondMax`. */
  private reducedShare = 1;
  private lastStartAt = 0;
  private pausedUntil = 0;
  private refusedCreationsInARow = 0;
  private waiting: Record<CallKind, WaitingCall[]> = { creation: [], read: [] };
  private serving = false;
  private lastServed: CallKind = "read";
  private latestNow = 0;
  private setBackMilliseconds = 0;

  constructor(clock: Clock, callsPerSecondMax: number) {
    this.clock = clock;
    this.callsPerSecondMax = callsPerSecondMax;
  }

  /** Milliseconds until the pause is over; 0 if calls are not paused. */
  get pausedMilliseconds(): number {
    return Math.max(0, this.pausedUntil - this.now());
  }

  /**
   * Resolves when the call may start, or with an error if it cannot start within `waitMillisecondsMax`. During a pause
   * it immediately rejects reads, because they are repeated anyway, and creations that cannot wait for its end. The
   * error is a reason for the log.
   */
  slot(kind: CallKind, waitMillisecondsMax: number): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      this.waiting[kind].push({ latest: this.now() + waitMillisecondsMax, resolve });
      if (this.serving) this.rejectTooLate();
      else void this.serve();
    });
  }

  /**
   * Call on each answer. `pauseMilliseconds` is for how long the provider asks not to be called, because it is too
   * busy; absent if it does not ask.
   */
  answered(kind: CallKind, pauseMilliseconds?: number): void {
    if (kind === "creation") {
      this.refusedCreationsInARow = pauseMilliseconds === undefined ? 0 : this.refusedCreationsInARow + 1;
      if (this.refusedCreationsInARow < REFUSED_CREATIONS_IN_A_ROW) return;
    }
    if (pauseMilliseconds !== undefined) this.pauseFor(pauseMilliseconds);
  }

  /** Starts a pause, or extends it. */
  private pauseFor(milliseconds: number): void {
    // During a pause this is the answer to a call that was in flight before: it must not reduce the rate again.
    if (this.pausedMilliseconds === 0) {
      this.reducedShare = Math.max(RATE_SHARE_MIN, this.rateShare * DECREASE_FACTOR);
    }
    this.pausedUntil = Math.max(this.pausedUntil, this.now() + milliseconds);
    this.rejectTooLate();
  }

  private get callsPerSecond(): number {
    return this.callsPerSecondMax * this.rateShare;
  }

  private get rateShare(): number {
    const recovered = Math.min(1, Math.max(0, this.now() - this.pausedUntil) / RECOVERY_MILLISECONDS);
    return this.reducedShare + (1 - this.reducedShare) * recovered ** RECOVERY_POWER;
  }

  /** When the next call may start, by the current rate. */
  private get nextAt(): number {
    return Math.max(this.lastStartAt + 1_000 / this.callsPerSecond, this.pausedUntil);
  }

  /** One loop for all waiting calls; it ends when there are none. */
  private async serve(): Promise<void> {
    this.serving = true;
    for (;;) {
      this.rejectTooLate();
      const { creation, read } = this.waiting;
      if (creation.length + read.length === 0) break;
      const now = this.now();
      const startsAt = this.nextAt;
      if (startsAt > now) {
        await this.clock.sleep(Math.min(Math.ceil(startsAt - now), SLEEP_MILLISECONDS_MAX));
        continue;
      }
      // Compensates for a late timer, but not for idle time.
      const gap = 1_000 / this.callsPerSecond;
      this.lastStartAt = now - startsAt <= TIMER_MILLISECONDS ? startsAt : now - Math.max(0, TIMER_MILLISECONDS - gap);
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
