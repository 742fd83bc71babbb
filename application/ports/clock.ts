/**
 * How far the clocks of the instances may differ. A time that is further ahead than it can be, by more than this, was
 * written before the clock was set back.
 */
export const CLOCK_TOLERANCE_MILLISECONDS = 60_000;

/** Current time and delays. Tests use a clock that they advance by hand. */
export interface Clock {
  now(): Date;
  /** Resolves after `milliseconds`, or at once when `signal` is aborted; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
