import type { InvalidRequest } from "../../domain/invalid-request.js";

/** The error codes of the service (specification, Errors). */
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
 * The codes of the service, and four for calls without an answer of the service:
 * `timeout`: no answer in time; `network_error`: no connection, or a broken one;
 * `unexpected_answer`: an answer of something else, such as a proxy; `aborted`: the caller's signal was aborted.
 */
export type ClientErrorCode =
  | (typeof SERVICE_ERROR_CODES)[number]
  | "timeout"
  | "network_error"
  | "unexpected_answer"
  | "aborted";

/** Why a call failed. `message` is for people and never contains the API key. */
export type ClientError = {
  readonly code: ClientErrorCode;
  readonly message: string;
  /** The HTTP status; `undefined` if there was no answer, or nothing was sent. */
  readonly status: number | undefined;
  /** The `x-request-id` of the answer: quote it to the operator of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The service may have accepted the request: a creation may have been charged. */
  readonly mayHaveBeenAccepted: boolean;
};

/** The error for a request that breaks a rule: the client does not send it. */
export const refusedUnsent = ({ message }: InvalidRequest): ClientError => ({
  code: "invalid_request",
  message,
  status: undefined,
  requestId: undefined,
  retryAfterSeconds: undefined,
  mayHaveBeenAccepted: false,
});
