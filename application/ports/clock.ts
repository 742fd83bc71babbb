/** Current time and delays. Tests use a clock that they advance by hand. */
export interface Clock {
  now(): Date;
  /** Resolves after `milliseconds`, or at once when `signal` is aborted; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
