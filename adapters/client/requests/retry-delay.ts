import type { ClientError } from "../client-error.js";

const FIRST_DELAY_MILLISECONDS = 500;
const DELAY_MILLISECONDS_MAX = 8_000;
const ABSENCE_DELAY_MILLISECONDS = 250;

/**
 * The pause before a retry; `undefined` for an error that a retry cannot fix. Honours `retry-after`. Otherwise uses
 * exponential back-off with full jitter, so that clients which failed together do not retry together.
 *
 * @param attempt the number of attempts so far, at least 1
 * @param random at least 0 and less than 1
 */
export const retryDelayMilliseconds = (error: ClientError, attempt: number, random: number): number | undefined => {
  if (!isTransient(error)) return undefined;
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return random * Math.min(DELAY_MILLISECONDS_MAX, FIRST_DELAY_MILLISECONDS * 2 ** (attempt - 1));
};

/**
 * The pause before a retry while nothing listens: 250, 500 and 1000 ms, of which jitter leaves at least a half. A fast
 * reconnection matters more than the number of clients that try a closed port.
 */
export const absenceDelayMilliseconds = (attempt: number, random: number): number =>
  ABSENCE_DELAY_MILLISECONDS * 2 ** (attempt - 1) * (0.5 + random / 2);

const isTransient = ({ code, status, retryAfterSeconds }: ClientError): boolean => {
  switch (code) {
    case "timeout":
    case "network_error":
    case "internal_error":
      return true;
    case "rate_limited":
      return retryAfterSeconds !== undefined;
    case "unexpected_answer":
      return status !== undefined && (status >= 500 || status === 429);
    default:
      // `upstream_error`: the provider refused and the credits are refunded. The caller decides whether to try again.
      return false;
  }
};
