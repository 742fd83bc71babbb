import type { InvalidRequest } from "../../domain/invalid-request.js";

/** What the service answers (specification, Errors). */
export const SERVICE_ERROR_CODES = [
  "invalid_request",
  "invalid_api_key",
  "insufficient_credits",
  "not_found",
  "rate_limited",
  "too_many_active_tasks",
  "upstream_error",
  "internal_error",
] as const;

/**
 * The service's codes, and four for when it did not say one:
 * `timeout` no answer in time, `network_error` no connection or a broken one,
 * `unexpected_answer` an answer that is not of this interface (a proxy's page, say), `aborted` the caller's own wish.
 */
export type ClientErrorCode =
  | (typeof SERVICE_ERROR_CODES)[number]
  | "timeout"
  | "network_error"
  | "unexpected_answer"
  | "aborted";

/** Why a call did not give what it should. `message` is for people, and never holds the API key. */
export type ClientError = {
  readonly code: ClientErrorCode;
  readonly message: string;
  /** The HTTP status; `undefined` if there was no answer, or nothing was sent. */
  readonly status: number | undefined;
  /** The service's name for the request (`x-request-id`), to be quoted to its operator. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Nothing proves that the service did not accept the request: a creation may have been charged. */
  readonly mayHaveBeenAccepted: boolean;
};

/** A request that breaks a rule is refused here already: nothing is sent. */
export const refusedUnsent = ({ message }: InvalidRequest): ClientError => ({
  code: "invalid_request",
  message,
  status: undefined,
  requestId: undefined,
  retryAfterSeconds: undefined,
  mayHaveBeenAccepted: false,
});
