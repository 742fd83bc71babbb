import { err, ok, type Result } from "neverthrow";
import { type ClientError, type ClientErrorCode, NO_RESPONSE } from "./client-error.js";
import type { FailedTask, FailureReason } from "./resources.js";

/** The codes of failed calls, and `generation_failed`: the task of `PanoramaClient.run` has failed. */
export type PanoramaErrorCode = ClientErrorCode | "generation_failed";

/** Ids of the creation or task that a call is about. */
export type FailedCall = {
  readonly idempotencyKey?: string | undefined;
  readonly taskId?: string | undefined;
};

/**
 * Error of a call of `PanoramaClient`. Decide by `code` or by the class; `message` is for people. No member contains
 * the API key, so an error can be logged as it is.
 */
export class PanoramaError extends Error {
  readonly code: PanoramaErrorCode;
  /** The HTTP status; `undefined` if there was no answer, or nothing was sent. */
  readonly status: number | undefined;
  /** The parameter at fault as the service names it, such as `image_urls[1]`. */
  readonly param: string | undefined;
  /** For `upstream_error` and `generation_failed`: the failure reason. `undefined` if the service does not give it. */
  readonly reason: FailureReason | undefined;
  /** The `x-request-id` of the answer: quote it to the operator of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The service may have accepted the request: a creation may have been charged. */
  readonly mayHaveBeenAccepted: boolean;
  /** Key of a creation. Creating again with this key within 24 hours costs nothing more. */
  readonly idempotencyKey: string | undefined;
  /** The task, if the call was about one. */
  readonly taskId: string | undefined;

  constructor(failure: Omit<ClientError, "code"> & { readonly code: PanoramaErrorCode }, call: FailedCall = {}) {
    super(failure.message);
    // Not enumerable, like `name` of built-in errors. Set explicitly, because bundlers rename classes.
    Object.defineProperty(this, "name", { value: NAMES[failure.code] });
    this.code = failure.code;
    this.status = failure.status;
    this.param = failure.param;
    this.reason = failure.reason;
    this.requestId = failure.requestId;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.mayHaveBeenAccepted = failure.mayHaveBeenAccepted;
    this.idempotencyKey = call.idempotencyKey;
    this.taskId = call.taskId;
  }
}

/** `invalid_request`: correct the request. `param` names the field. */
export class InvalidRequestError extends PanoramaError {}
/** `invalid_api_key`: the key is missing, wrong, expired or lacks the scope. */
export class AuthenticationError extends PanoramaError {}
/** `insufficient_credits`: the account has too few credits, or the key has used up its budget. */
export class InsufficientCreditsError extends PanoramaError {}
/** `not_found`: the account has no such task. */
export class NotFoundError extends PanoramaError {}
/** `rate_limited` or `too_many_active_tasks`: wait for `retryAfterSeconds`, or until a task ends. */
export class RateLimitError extends PanoramaError {}
/** `upstream_error` or `internal_error`; or `unexpected_answer`: something else answered, such as a proxy. */
export class ServiceError extends PanoramaError {}
/** `network_error` or `timeout`: no answer. A creation may have been accepted: see `idempotencyKey`. */
export class ConnectionError extends PanoramaError {}
/** `aborted`: the caller's signal was aborted. */
export class AbortedError extends PanoramaError {}

/** `generation_failed`: the task of `PanoramaClient.run` has failed, and its credits are refunded. */
export class TaskFailedError extends PanoramaError {
  readonly task: FailedTask;

  constructor(task: FailedTask, call: FailedCall) {
    const { message, reason, param } = task.error;
    super({ ...NO_RESPONSE, code: "generation_failed", message, param, reason }, { ...call, taskId: task.id });
    this.task = task;
  }
}

const CLASSES: Readonly<Record<ClientErrorCode, typeof PanoramaError>> = {
  invalid_request: InvalidRequestError,
  invalid_api_key: AuthenticationError,
  insufficient_credits: InsufficientCreditsError,
  not_found: NotFoundError,
  rate_limited: RateLimitError,
  too_many_active_tasks: RateLimitError,
  upstream_error: ServiceError,
  internal_error: ServiceError,
  unexpected_answer: ServiceError,
  timeout: ConnectionError,
  network_error: ConnectionError,
  aborted: AbortedError,
};

const NAMES: Readonly<Record<PanoramaErrorCode, string>> = {
  invalid_request: "InvalidRequestError",
  invalid_api_key: "AuthenticationError",
  insufficient_credits: "InsufficientCreditsError",
  not_found: "NotFoundError",
  rate_limited: "RateLimitError",
  too_many_active_tasks: "RateLimitError",
  upstream_error: "ServiceError",
  internal_error: "ServiceError",
  unexpected_answer: "ServiceError",
  timeout: "ConnectionError",
  network_error: "ConnectionError",
  aborted: "AbortedError",
  generation_failed: "TaskFailedError",
};

/** Creates the error of a failed call, in the class that belongs to its code. */
export const panoramaError = (failure: ClientError, call?: FailedCall): PanoramaError =>
  new CLASSES[failure.code](failure, call);

/** The error of one request. */
type CallError = PanoramaError & { readonly code: ClientErrorCode };

/** Converts a `PanoramaError` to an `Err`. Other errors, and `generation_failed`, still reject. */
export const resultOf = async <T>(call: Promise<T>): Promise<Result<T, CallError>> => {
  try {
    return ok(await call);
  } catch (error) {
    if (error instanceof PanoramaError && error.code !== "generation_failed") return err(error as CallError);
    throw error;
  }
};
