import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";

export type CallKind = "creation" | "read";

type Waiting = { readonly latest: number; readonly end: (turn: Result<void, string>) => void };

const CALLS_PER_SECOND_MIN = 0.5;
/** So much faster after each answer: with steady calls the pace doubles in about half a minute. */
const CALLS_PER_SECOND_MORE = 0.02;

/**
 * When the next call to a provider may start. Calls are spread evenly, so many a second at most and one more that catches
 * up; creations go before reads, but not two in a row while a read waits: what nobody looks at never ends. A provider that is too busy is left alone for as long as it wants. After that it is
 * called half as often as before, and a little more often with every answer.
 */
export class CallRateLimiter {
  private readonly clock: Clock;
  private readonly callsPerSecondMax: number;
  private callsPerSecond: number;
  private nextAt = 0;
  private pausedUntil = 0;
  private waiting: Record<CallKind, Waiting[]> = { creation: [], read: [] };
  private serving = false;
  private lastServed: CallKind = "read";
  private latestNow = 0;
  private setBackMilliseconds = 0;

  constructor(clock: Clock, callsPerSecondMax: number) {
    this.clock = clock;
    this.callsPerSecondMax = callsPerSecondMax;
    this.callsPerSecond = callsPerSecondMax;
  }

  /** Milliseconds for which the provider is still to be left alone. */
  get pausedMilliseconds(): number {
    return Math.max(0, this.pausedUntil - this.now());
  }

  /**
   * Resolves when the call may start; after `patienceMilliseconds` it may not any more. While the provider is left alone
   * reads are told so at once, for they come again, and creations that cannot wait so long. The error is a reason for
   * the log.
   */
  turn(kind: CallKind, patienceMilliseconds: number): Promise<Result<void, string>> {
    return new Promise((end) => {
      this.waiting[kind].push({ latest: this.now() + patienceMilliseconds, end });
      if (this.serving) this.turnAway();
      else void this.serve();
    });
  }

  /** There was an answer from a provider that is not too busy. */
  answered(): void {
    this.callsPerSecond = Math.min(this.callsPerSecondMax, this.callsPerSecond + CALLS_PER_SECOND_MORE);
  }

  /** The provider is too busy. */
  pauseFor(milliseconds: number): void {
    // Calls that were under way already are told the same again: that slows nobody down further.
    if (this.pausedMilliseconds === 0) {
      this.callsPerSecond = Math.max(CALLS_PER_SECOND_MIN, this.callsPerSecond / 2);
    }
    this.pausedUntil = Math.max(this.pausedUntil, this.now() + milliseconds);
    this.turnAway();
  }

  /** One loop for all who wait, for as long as anybody does. */
  private async serve(): Promise<void> {
    this.serving = true;
    for (;;) {
      this.turnAway();
      const { creation, read } = this.waiting;
      if (creation.length + read.length === 0) break;
      const now = this.now();
      const startsAt = Math.max(this.nextAt, this.pausedUntil);
      if (startsAt > now) {
        await this.clock.sleep(Math.ceil(startsAt - now));
        continue;
      }
      const gap = 1000 / this.callsPerSecond;
      this.nextAt = Math.max(this.nextAt, now - gap) + gap;
      const creationIsNext = read.length === 0 || (creation.length > 0 && this.lastServed === "read");
      this.lastServed = creationIsNext ? "creation" : "read";
      this.waiting[this.lastServed].shift()?.end(ok(undefined));
    }
    this.serving = false;
  }

  private turnAway(): void {
    const now = this.now();
    const alone = this.pausedMilliseconds;
    const leftAlone = `the provider wants to be left alone for ${Math.ceil(alone / 1000)} more seconds`;
    const whyNot = (kind: CallKind, latest: number): string | undefined => {
      if (alone > 0 && (kind === "read" || latest < now + alone)) return leftAlone;
      return latest < now ? "too many calls to the provider are waiting" : undefined;
    };
    const stay = (kind: CallKind): Waiting[] =>
      this.waiting[kind].filter(({ latest, end }) => {
        const reason = whyNot(kind, latest);
        if (reason !== undefined) end(err(reason));
        return reason === undefined;
      });
    this.waiting = { creation: stay("creation"), read: stay("read") };
  }

  /** Goes on when the clock is set back: else everybody would wait until it is that time again. */
  private now(): number {
    const now = this.clock.now().getTime();
    this.setBackMilliseconds = Math.max(this.setBackMilliseconds, this.latestNow - now);
    this.latestNow = now + this.setBackMilliseconds;
    return this.latestNow;
  }
}
