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

/** Background work that runs again and again. */
export type ScheduledWork<Name extends string = string> = {
  readonly name: Name;
  /** The time between two runs. */
  readonly everySeconds: 1 | 5 | 60 | 3600;
  /** The delay after the full minute or hour, so that not all work begins together. */
  readonly offsetSeconds?: number;
  /** Must start nothing new once `stopping` is aborted. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
};

/**
 * Runs background work. Never runs the same work twice at the same time: a time at which it is running is skipped.
 * Without this port the application sleeps by its clock, so that it needs no package and tests move the work with the
 * clock.
 */
export type Schedule<Name extends string = string> = {
  start(): void;
  /** Runs the work now or, if it is running, once more afterwards: the current run may have missed the new work. */
  wake(name: Name): void;
  /** Starts no more runs. Resolves when the current runs have ended, or at the deadline. */
  stop(deadlineMilliseconds: number): Promise<void>;
};

/** The port: makes a schedule of these works. It calls `onFailure` when a run throws; later runs still take place. */
export type MakeSchedule = <Name extends string>(
  works: readonly ScheduledWork<Name>[],
  onFailure: (work: Name, error: unknown) => void,
) => Schedule<Name>;
