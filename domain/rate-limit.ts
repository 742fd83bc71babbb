import { err, ok, type Result } from "neverthrow";

/** Requests that count against one another (specification, Limits); `login`: attempts with a password, on the web pages. */
export type RequestKind = "read" | "write" | "login";

export const RATE_LIMITS = { read: 60, write: 10, login: 10 } as const satisfies Record<RequestKind, number>;
export const RATE_WINDOW_MILLISECONDS = 60_000;

/** When a key's requests of one kind were admitted: epoch milliseconds, oldest first, all within the last window. */
export type AdmissionLog = readonly number[];

export type Admission = {
  readonly log: AdmissionLog;
  readonly limit: number;
  /** Requests that would be admitted right now. */
  readonly remaining: number;
  /** Seconds, rounded up, until the oldest admission leaves the window and one more request is free. */
  readonly resetSeconds: number;
};

export type RateLimited = {
  readonly kind: "rate_limited";
  readonly limit: number;
  /** Seconds, rounded up, at least 1: a request after that much silence is admitted. */
  readonly retryAfterSeconds: number;
};

/**
 * The sliding window log: in no window of 60 s, open at its end, more than `limit` requests are admitted, and a
 * request is refused only if admitting it would break that. A refused request does not count.
 */
export const admitRequest = (
  log: AdmissionLog,
  limit: number,
  nowMilliseconds: number,
): Result<Admission, RateLimited> => {
  // An admission a whole window ahead is from before the clock was set back: it is forgotten, or the key would be shut
  // out until the clock has caught up.
  const within = log.filter((at) => Math.abs(at - nowMilliseconds) < RATE_WINDOW_MILLISECONDS);
  const [oldest = nowMilliseconds] = within.slice(-limit);
  const waitSeconds = Math.max(1, Math.ceil((oldest + RATE_WINDOW_MILLISECONDS - nowMilliseconds) / 1000));
  return within.length < limit
    ? ok({
        log: [...within, nowMilliseconds].sort((a, b) => a - b),
        limit,
        remaining: limit - within.length - 1,
        resetSeconds: waitSeconds,
      })
    : err({ kind: "rate_limited", limit, retryAfterSeconds: waitSeconds });
};
