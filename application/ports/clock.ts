/** The time, and waiting for it: tests bring a clock that they wind by hand. */
export interface Clock {
  now(): Date;
  /** Resolves after so many milliseconds, or at once when `signal` is aborted; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
