import type { ClientError } from "./client-error.js";

const FIRST_DELAY_MILLISECONDS = 500;
const DELAY_MILLISECONDS_MAX = 8_000;

/**
 * How long to wait before the same request is sent again; `undefined`: sending it again cannot help.
 * What the service asks for (`retry-after`) is kept; otherwise exponential back-off with full jitter, so that many
 * clients which failed together do not come back together.
 *
 * @param attempt 1 after the first attempt
 * @param random from 0 up to, not including, 1
 */
export const retryDelayMilliseconds = (error: ClientError, attempt: number, random: number): number | undefined => {
  if (!isTransient(error)) return undefined;
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return random * Math.min(DELAY_MILLISECONDS_MAX, FIRST_DELAY_MILLISECONDS * 2 ** (attempt - 1));
};

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
      // `upstream_error`: the provider was asked and the credits are back; asking it again is the caller's decision.
      return false;
  }
};
