import type { NotFound } from "../../../application/errors.js";
import { failedCreationSentence, failedParam } from "../../../application/events/failure-sentence.js";
import type { UpstreamError } from "../../../application/panoramas/submit-task.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import type { AccessEnded } from "../../../application/ports/stores/access.js";
import { StoreBusy, StoreFull, StoreUnreachable } from "../../../application/ports/stores/store-errors.js";
import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { BudgetSpent } from "../../../domain/credits/budget.js";
import type { AccountRateLimited, RateLimited } from "../../../domain/credits/rate-limit.js";
import type { InsufficientCredits, TooManyActiveTasks } from "../../../domain/credits/reservation.js";
import type { TooManyFailures } from "../../../domain/tasks/failure-budget.js";
import { type PublicReason, publicReason } from "../../../domain/tasks/public-reason.js";
import { type InvalidMessage, parameterName, rulePredicate } from "../../wording/rule-predicate.js";
import { budgetSentence, returnedPaymentSentence, suspendedSentence } from "../../wording/sentences.js";
import { json, type Reply } from "./reply.js";

/** The error codes of the REST interface (specification, Codes). */
export type ErrorCode =
  | "invalid_request"
  | "invalid_api_key"
  | "insufficient_credits"
  | "not_found"
  | "rate_limited"
  | "too_many_active_tasks"
  | "upstream_error"
  | "internal_error";

/** `message` says whether the API key is missing or invalid, has expired, or lacks a scope. */
export type Unauthenticated = { readonly kind: "invalid_api_key"; readonly message: string };

/** `isCreation`: the request was to create a panorama, and may have done so. */
type Unfinished = { readonly isCreation: boolean };

/** Something was thrown. The client gets only the request id, with which the operator finds the error in the log. */
export type InternalError = Unfinished & {
  readonly kind: "internal_error";
  readonly requestId: string;
  readonly thrown: unknown;
};

/** A store could not write in time (application/ports/stores/store-errors.ts). */
export type Busy = { readonly kind: "store_busy"; readonly thrown: StoreBusy };

/** The disk of a store is full (application/ports/stores/store-errors.ts). */
export type Full = { readonly kind: "store_full"; readonly thrown: StoreFull };

/** The database of a store cannot be reached (application/ports/stores/store-errors.ts). */
export type Unreachable = Unfinished & { readonly kind: "store_away"; readonly thrown: StoreUnreachable };

/** An instance looks for its database at once, and for its connections within seconds. */
export const UNREACHABLE_RETRY_AFTER_SECONDS = 5;

/** After a store was busy: others have held its locks for seconds. */
export const BUSY_RETRY_AFTER_SECONDS = 2;

/** Every way in which a request of the REST interface can fail. */
export type ApiError =
  | InvalidMessage
  | Unauthenticated
  | AccountSuspended
  | AccessEnded
  | InsufficientCredits
  | BudgetSpent
  | NotFound
  | RateLimited
  | AccountRateLimited
  | TooManyFailures
  | TooManyActiveTasks
  | UpstreamError
  | StorageUnavailable
  | Busy
  | Full
  | Unreachable
  | InternalError;

type Answer = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The parameter at fault; not sent if it is `undefined`. */
  readonly param?: string | undefined;
  /** As of a failed task; not sent if it is `undefined`. */
  readonly reason?: PublicReason | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** Advice before repeating a creation whose outcome is unknown. */
const CHECK_FIRST =
  "The creation may have been accepted: check your tasks with GET /api/v1/panoramas before you send it again";

/** An error kind without an answer does not compile. */
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
  account_suspended: (refusal) => ({
    status: 401,
    code: "invalid_api_key",
    message: suspendedSentence(refusal),
    headers: { "www-authenticate": "Bearer" },
  }),
  access_ended: () => ({
    status: 401,
    code: "invalid_api_key",
    message: "This API key was revoked or has expired while the request was read. Nothing was done or charged.",
    headers: { "www-authenticate": "Bearer" },
  }),
  insufficient_credits: (refusal) => ({
    status: 402,
    code: "insufficient_credits",
    message:
      returnedPaymentSentence(refusal) ??
      `This costs ${refusal.cost} credits, but the account has ${refusal.balance}. Buy credits or choose a lower resolution.`,
  }),
  budget_spent: (refusal) => ({ status: 402, code: "insufficient_credits", message: budgetSentence(refusal) }),
  not_found: ({ message }) => ({ status: 404, code: "not_found", message }),
  rate_limited: ({ limit, retryAfterSeconds }) => ({
    status: 429,
    code: "rate_limited",
    message: `This API key has reached its limit of ${limit} requests of this kind per minute. Retry in ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  }),
  account_rate_limited: ({ limit, retryAfterSeconds }) => ({
    status: 429,
    code: "rate_limited",
    message: `This account has reached its limit of ${limit} writes per minute over all its API keys. Retry in ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  }),
  too_many_failures: ({ retryAfterSeconds }) => ({
    status: 429,
    code: "rate_limited",
    message: `Too many creations of this account have ended without a panorama today. Creations are possible again at 00:00 UTC, in ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  }),
  too_many_active_tasks: ({ limit }) => ({
    status: 429,
    code: "too_many_active_tasks",
    message: `This account already has ${limit} tasks in processing, the maximum. Retry when one finishes.`,
  }),
  upstream_error: ({ failed }) => ({
    status: 502,
    code: "upstream_error",
    ...(failed === undefined
      ? { message: "The image generator does not work at the moment. No credits are charged. Try again in a moment." }
      : { message: failedCreationSentence(failed), param: failedParam(failed), reason: publicReason(failed) }),
  }),
  storage_unavailable: ({ reason }) => ({
    status: 500,
    code: "internal_error",
    message: "The image storage is unavailable. Try again in a moment.",
    cause: new Error(`the storage is unavailable: ${reason}`),
  }),
  store_busy: ({ thrown }) => ({
    status: 429,
    code: "rate_limited",
    message: `The service is busy and could not complete this request. Nothing was charged. Retry in ${BUSY_RETRY_AFTER_SECONDS} s.`,
    headers: { "retry-after": String(BUSY_RETRY_AFTER_SECONDS) },
    cause: thrown,
  }),
  store_full: ({ thrown }) => ({
    status: 500,
    code: "internal_error",
    message: "The service has no room to store anything. Nothing was charged. Try again in some minutes.",
    cause: thrown,
  }),
  // Not 429: nobody knows whether the last statement was carried out.
  store_away: ({ thrown, isCreation }) => ({
    status: 500,
    code: "internal_error",
    message: `The service cannot reach its database. Retry in ${UNREACHABLE_RETRY_AFTER_SECONDS} s.${isCreation ? ` ${CHECK_FIRST}, or send it with the same Idempotency-Key.` : ""}`,
    headers: { "retry-after": String(UNREACHABLE_RETRY_AFTER_SECONDS) },
    cause: thrown,
  }),
  internal_error: ({ requestId, thrown, isCreation }) => ({
    status: 500,
    code: "internal_error",
    message: `The service failed with an unexpected error (request ${requestId}).${isCreation ? ` ${CHECK_FIRST}.` : ""}`,
    cause: thrown,
  }),
};

/** The answer to a request whose handler has thrown. */
export const thrownReply = ({ requestId, method, url }: ThrownRequest, thrown: unknown): Reply => {
  const isCreation = method === "POST" && CREATION_PATH.test(url);
  if (thrown instanceof StoreUnreachable) return errorReply({ kind: "store_away", thrown, isCreation });
  if (thrown instanceof StoreFull) return errorReply({ kind: "store_full", thrown });
  if (thrown instanceof StoreBusy) return errorReply({ kind: "store_busy", thrown });
  return errorReply({ kind: "internal_error", requestId, thrown, isCreation });
};

type ThrownRequest = { readonly requestId: string; readonly method: string; readonly url: string };

/** An embedder may have the routes below another path than `/api/v1`. */
const CREATION_PATH = /\/panoramas(\?|$)/;

export const errorReply = (error: ApiError): Reply => {
  const answer = answers[error.kind] as (error: ApiError) => Answer;
  const { status, code, message, param, reason, headers, cause } = answer(error);
  return { ...errorBody(status, code, message, { headers, param, reason }), error: error.kind, cause };
};

type ErrorDetails = {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly param?: string | undefined;
  readonly reason?: string | undefined;
};

/** The answer to every request that fails (specification, Error body). Metrics count it by its code. */
export const errorBody = (
  status: number,
  code: string,
  message: string,
  { headers, param, reason }: ErrorDetails = {},
): Reply & { readonly body: string } => ({
  ...json(status, { error: { code, message, param, reason } }, headers),
  error: code,
});

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
