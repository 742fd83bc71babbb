import { err, ok, type Result } from "neverthrow";
import { API_KEYS_MAX } from "./api-key.js";
import type { Scope } from "./key-limits.js";

/**
 * Requests of one kind share a limit. `read` and `write`: of an API key (specification, Limits). `total`: the writes of an
 * account over all its keys. The others are attempts on the web pages without a session
 * (application/accounts/admit-login-attempt.ts).
 */
export type RequestKind = keyof typeof RATE_LIMITS;

const WRITES_PER_KEY = 10;

export const RATE_LIMITS = {
  read: 60,
  write: WRITES_PER_KEY,
  /**
   * As many as an account's keys may make together, so that their own limits are always met first. Met only with more
   * keys: revoked and made again within a minute, or from before the number of keys was limited.
   */
  total: WRITES_PER_KEY * API_KEYS_MAX,
  /** Passwords for one e-mail address from one network. */
  login: 10,
  /** Passwords from one network for all e-mail addresses. More than `login`, because people share networks. */
  login_network: 60,
  /** Passwords for one e-mail address from all networks. High, because everybody can use it up for somebody else. */
  login_email: 100,
  /** E-mails that one network requests. */
  mail: 10,
} as const;
/** The scope that a request of an API key needs. */
export const scopeOf = (kind: RequestKind): Scope => (kind === "write" ? "create" : "read");

export const RATE_WINDOW_MILLISECONDS = 60_000;

/** Times at which a key's requests of one kind were admitted: epoch milliseconds, oldest first, within one window. */
export type AdmissionLog = readonly number[];

export type Admission = {
  readonly log: AdmissionLog;
  readonly limit: number;
  /** Number of requests that would still be admitted now. */
  readonly remaining: number;
  /** Seconds, rounded up, until the oldest admission leaves the window and one more request is admitted. */
  readonly resetSeconds: number;
};

export type RateLimited = {
  readonly kind: "rate_limited";
  readonly limit: number;
  /** Seconds, rounded up, at least 1, until a request is admitted again. */
  readonly retryAfterSeconds: number;
};

/** The account has reached the limit `total`. */
export type AccountRateLimited = Omit<RateLimited, "kind"> & { readonly kind: "account_rate_limited" };

export const accountRateLimited = ({ limit, retryAfterSeconds }: RateLimited): AccountRateLimited => ({
  kind: "account_rate_limited",
  limit,
  retryAfterSeconds,
});

/**
 * A sliding window log: admits at most `limit` requests in any window of 60 s (end excluded). Refuses a request only
 * if admitting it would exceed the limit. Refused requests do not count.
 */
export const admitRequest = (
  log: AdmissionLog,
  limit: number,
  nowMilliseconds: number,
): Result<Admission, RateLimited> => {
  // An admission that lies a whole window in the future was logged before the clock was set back. It is dropped;
  // otherwise the key would be refused until the clock reaches that time again.
  const isWithin = (at: number): boolean => Math.abs(at - nowMilliseconds) < RATE_WINDOW_MILLISECONDS;
  const newest = log.at(-1) ?? nowMilliseconds;
  // The log is sorted: if its ends are within the window, everything is.
  // Stryker disable next-line ConditionalExpression: filtering gives the same, more slowly
  const within = isWithin(log[0] ?? nowMilliseconds) && isWithin(newest) ? log : log.filter(isWithin);
  const oldest = within[Math.max(0, within.length - limit)] ?? nowMilliseconds;
  const waitSeconds = Math.max(1, Math.ceil((oldest + RATE_WINDOW_MILLISECONDS - nowMilliseconds) / 1000));
  if (within.length >= limit) return err({ kind: "rate_limited", limit, retryAfterSeconds: waitSeconds });
  const extended = [...within, nowMilliseconds];
  return ok({
    // Stryker disable next-line ConditionalExpression,EqualityOperator: sorting gives the same, more slowly
    log: newest <= nowMilliseconds ? extended : extended.sort((a, b) => a - b),
    limit,
    remaining: limit - within.length - 1,
    resetSeconds: waitSeconds,
  });
};
