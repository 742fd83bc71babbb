import type { NotFound } from "../../application/errors.js";
import type { UpstreamError } from "../../application/panoramas/submit-task.js";
import type { StorageUnavailable } from "../../application/ports/object-storage.js";
import type { TooManyActiveTasks } from "../../domain/concurrency-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import type { InsufficientCredits } from "../../domain/reservation.js";
import { parameterName } from "../wording/parameter-name.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { json, type Reply } from "./reply.js";

/** The codes of the interface (specification, Codes). */
export type ErrorCode =
  | "invalid_request"
  | "invalid_api_key"
  | "insufficient_credits"
  | "not_found"
  | "rate_limited"
  | "too_many_active_tasks"
  | "upstream_error"
  | "internal_error";

/** Which key is missing or wrong, in a sentence. */
export type Unauthenticated = { readonly kind: "invalid_api_key"; readonly message: string };

/** Something was thrown; the client is told the request id, under which the log has what it was. */
export type InternalError = { readonly kind: "internal_error"; readonly requestId: string; readonly thrown: unknown };

/** Everything that a request of the interface can end with, other than success. */
export type ApiError =
  | InvalidRequest
  | Unauthenticated
  | InsufficientCredits
  | NotFound
  | RateLimited
  | TooManyActiveTasks
  | UpstreamError
  | StorageUnavailable
  | InternalError;

type Answer = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The parameter at fault; not sent if it is `undefined`. */
  readonly param?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** Total by construction: a kind of error without an answer does not compile. */
const answers: { readonly [Kind in ApiError["kind"]]: (error: Extract<ApiError, { kind: Kind }>) => Answer } = {
  invalid_request: (refusal) => {
    const param = parameterName(refusal);
    const message = `${param ?? "request body"}: ${rulePredicate(refusal.rule)}`;
    return { status: 400, code: "invalid_request", message, param };
  },
  invalid_api_key: ({ message }) => ({
    status: 401,
    code: "invalid_api_key",
    message,
    headers: { "www-authenticate": "Bearer" },
  }),
  insufficient_credits: ({ balance, cost }) => ({
    status: 402,
    code: "insufficient_credits",
    message: `This costs ${cost} credits, but the account has ${balance}: buy credits, or choose a lower resolution.`,
  }),
  not_found: ({ message }) => ({ status: 404, code: "not_found", message }),
  rate_limited: ({ limit, retryAfterSeconds }) => ({
    status: 429,
    code: "rate_limited",
    message: `This key has made its ${limit} requests of this kind within a minute: try again in ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  }),
  too_many_active_tasks: ({ limit }) => ({
    status: 429,
    code: "too_many_active_tasks",
    message: `The account has ${limit} tasks in processing, as many as it may: try again once one of them has finished.`,
  }),
  upstream_error: () => ({
    status: 502,
    code: "upstream_error",
    message:
      "The generation provider did not accept the task, and no credits are charged for it: try again in a moment.",
  }),
  storage_unavailable: ({ reason }) => ({
    status: 500,
    code: "internal_error",
    message: "The image storage does not answer. Try again in a moment.",
    cause: new Error(`the storage is unavailable: ${reason}`),
  }),
  internal_error: ({ requestId, thrown }) => ({
    status: 500,
    code: "internal_error",
    message: `Something went wrong on our side (request ${requestId}). If this was a creation, it may have been accepted all the same: look at your tasks with GET /api/v1/panoramas before you send it again.`,
    cause: thrown,
  }),
};

export const errorReply = (error: ApiError): Reply => {
  const answer = answers[error.kind] as (error: ApiError) => Answer;
  const { status, code, message, param, headers, cause } = answer(error);
  return { ...errorBody(status, code, message, headers, param), cause };
};

/** The body of every answer that is not a success (specification, Error body). */
export const errorBody = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  param?: string,
): Reply => json(status, { error: { code, message, param } }, headers);
