/** Timeouts and retry times of a bucket's calls, in milliseconds. */
export type RetryTimes = {
  /** Timeout of one request including its whole answer. */
  readonly attemptMilliseconds: number;
  /** Timeout of a call with all its requests and their attempts. */
  readonly totalMilliseconds: number;
  /** Longest pause before the second attempt; doubles before each further attempt. */
  readonly firstPauseMilliseconds: number;
};

/** Default times of a storage. */
export const RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 10_000,
  totalMilliseconds: 30_000,
  firstPauseMilliseconds: 500,
};
