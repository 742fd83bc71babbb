import { errorBody } from "./errors.js";

const RETRY_AFTER_SECONDS = 1;

/**
 * The answer to a request that is refused because the service is overloaded, without its request id. No other code of
 * the specification tells a client to wait.
 */
export const REFUSAL = {
  reason: "Too Many Requests",
  ...errorBody(
    429,
    "rate_limited",
    `The service is overloaded and has not handled this request. Retry in ${RETRY_AFTER_SECONDS} s.`,
    { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
  ),
};
