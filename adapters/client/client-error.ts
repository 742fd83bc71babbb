import type { InvalidRequest } from "../../domain/invalid-request.js";
import { invalidRequestSentence, parameterName } from "../wording/rule-predicate.js";
import type { FailureReason } from "./resources.js";

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
 * The codes of the service, and four for calls that the service did not answer:
 * `timeout`: no answer in time; `network_error`: the connection failed or was closed;
 * `unexpected_answer`: an answer that is not from the service, for example from a proxy;
 * `aborted`: the caller's signal was aborted.
 */
export type ClientErrorCode =
  | (typeof SERVICE_ERROR_CODES)[number]
  | "timeout"
  | "network_error"
  | "unexpected_answer"
  | "aborted";

/** A failed request as a value. Callers get it as a `PanoramaError`. `message` never contains the API key. */
export type ClientError = {
  readonly code: ClientErrorCode;
  readonly message: string;
  /**
   * For `invalid_request`: the name of the wrong parameter in the REST interface, such as `files[1]`. `message` begins
   * with this name and a colon. `undefined` if no single parameter is wrong.
   */
  readonly param: string | undefined;
  /** For `upstream_error`: the failure reason. Absent in answers of older services. */
  readonly reason?: FailureReason | undefined;
  /** The HTTP status; `undefined` if there was no answer, or nothing was sent. */
  readonly status: number | undefined;
  /** The `x-request-id` of the answer: quote it to the operator of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The service may have accepted the request: a creation may have been charged. */
  readonly mayHaveBeenAccepted: boolean;
};

/** Members of an error without a response of the service. */
export const NO_RESPONSE = {
  param: undefined,
  status: undefined,
  requestId: undefined,
  retryAfterSeconds: undefined,
  mayHaveBeenAccepted: false,
};

/** The error for a request that breaks a rule: the client does not send it. */
export const invalidRequestError = (refusal: InvalidRequest): ClientError => ({
  ...NO_RESPONSE,
  code: "invalid_request",
  message: invalidRequestSentence(refusal),
  param: parameterName(refusal),
});

/** The message. If it begins with `param` and `names` has another name for it, it begins with that name. */
export const messageWithNames = ({ message, param }: ClientError, names: ReadonlyMap<string, string>): string => {
  const name = param === undefined ? undefined : names.get(param);
  return name !== undefined && message.startsWith(`${param}: `) ? name + message.slice(param?.length) : message;
};
