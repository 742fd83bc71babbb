import { err, ok, type Result } from "neverthrow";

/** At most `limit` requests in any window of `windowSeconds`. */
export type Rate = { readonly limit: number; readonly windowSeconds: number };

/** Times at which requests of one kind were admitted: epoch milliseconds, oldest first, within one window. */
export type AdmissionLog = readonly number[];

/** An admitted request. */
export type Admission = {
  readonly log: AdmissionLog;
  readonly limit: number;
  /** Number of requests that would still be admitted now. */
  readonly remaining: number;
  /** Seconds, rounded up, until the oldest admission leaves the window and one more request is admitted. */
  readonly resetSeconds: number;
};

/** More requests than the limit in one window. `retryAfterSeconds` is a whole number of at least 1. */
export type RateLimited = {
  readonly kind: "rate_limited";
  readonly limit: number;
  /** Seconds, rounded up, at least 1, until a request is admitted again. */
  readonly retryAfterSeconds: number;
};

/** The account has reached a limit over all its keys. */
export type AccountRateLimited = Omit<RateLimited, "kind"> & { readonly kind: "account_rate_limited" };

/** The refusal for a limit of the whole account instead of one key. */
export const accountRateLimited = ({ limit, retryAfterSeconds }: RateLimited): AccountRateLimited => ({
  kind: "account_rate_limited",
  limit,
  retryAfterSeconds,
});

/**
 * A sliding window log: admits at most `limit` requests in any window (end excluded). Refused requests do not count.
 */
export const admitRequest = (
  log: AdmissionLog,
  { limit, windowSeconds }: Rate,
  nowMilliseconds: number,
): Result<Admission, RateLimited> => {
  const windowMilliseconds = windowSeconds * 1000;
  // Drops admissions a whole window in the future: the clock was set back. Otherwise the key would be refused until the
  // clock reaches that time again.
  const isWithin = (at: number): boolean => Math.abs(at - nowMilliseconds) < windowMilliseconds;
  // The log is sorted: if its ends are within the window, everything is.
  const isWhole = isWithin(log[0] ?? nowMilliseconds) && isWithin(log.at(-1) ?? nowMilliseconds);
  const within = isWhole ? log : log.filter(isWithin);
  const newest = within.at(-1) ?? nowMilliseconds;
  const oldest = within[Math.max(0, within.length - limit)] ?? nowMilliseconds;
  const waitSeconds = Math.max(1, Math.ceil((oldest + windowMilliseconds - nowMilliseconds) / 1000));
  if (within.length >= limit) return err({ kind: "rate_limited", limit, retryAfterSeconds: waitSeconds });
  const extended = [...within, nowMilliseconds];
  return ok({
    log: newest <= nowMilliseconds ? extended : extended.sort((a, b) => a - b),
    limit,
    remaining: limit - within.length - 1,
    resetSeconds: waitSeconds,
  });
};
