/**
 * Maximum clock difference between instances. A stored time further ahead than possible by more than this was written
 * before the clock was set back.
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
  /** Seconds after the full minute or hour. Spreads the starts of different works. */
  readonly offsetSeconds?: number;
  /** Must start nothing new once `stopping` is aborted. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
};

/**
 * Runs background work. Skips a run while the previous run of the same work is active. Default: a schedule based on
 * `Clock` alone, which needs no package and which tests can advance.
 */
export type Schedule<Name extends string = string> = {
  start(): void;
  /** Runs the work now or, if it is running, once more afterwards: the current run may have missed the new work. */
  wake(name: Name): void;
  /** Starts no more runs. Resolves when the current runs have ended, or at the deadline. */
  stop(deadlineMilliseconds: number): Promise<void>;
};

/** Creates a schedule of these works. Calls `onFailure` when a run throws; later runs continue. */
export type MakeSchedule = <Name extends string>(
  works: readonly ScheduledWork<Name>[],
  onFailure: (work: Name, error: unknown) => void,
) => Schedule<Name>;
