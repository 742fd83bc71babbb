import { err, type Result } from "neverthrow";
import { type Awaitable, whenReady } from "../../../application/awaitable.js";
import type { UseCases } from "../../../application/create-application.js";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AdmittedKey, AdmittedRequest, RefusedRequest } from "../../../application/ports/stores/rate-limits.js";
import type { Scope } from "../../../domain/accounts/key-limits.js";
import type { AccountRateLimited, RateLimited } from "../../../domain/credits/rate-limit.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import type { PanoramaPolicy, RequestKind } from "../../../domain/panorama-policy.js";
import type { Task } from "../../../domain/tasks/task.js";
import { suspendedSentence } from "../../wording/sentences.js";
import { shown } from "../../wording/shown.js";
import type { VisitorLimits } from "../limits/visitor-limits.js";
import { type ApiError, errorBody, errorReply, type Unauthenticated } from "../replies/errors.js";
import { rateLimitPolicies, withAdmitted, withLimited } from "../replies/rate-limit-headers.js";
import type { Reply } from "../replies/reply.js";
import { secretOf } from "../requests/api-key-header.js";
import type { Exchange } from "../requests/exchange.js";
import type { Senders } from "../requests/senders.js";
import type { Handler } from "../router.js";

/** Handles a request that is authenticated and within the rate limit. */
export type GuardedHandler = (exchange: Exchange, request: AdmittedRequest) => Awaitable<Result<Reply, ApiError>>;

/** Handles an admitted request that reads one task of the account. */
export type TaskHandler = (exchange: Exchange, task: Task, apiKey: AdmittedKey) => Awaitable<Result<Reply, ApiError>>;

export type Guard = {
  /** `readTaskId`: reads the task of the request together with its key. */
  readonly guarded: (kind: RequestKind, handler: GuardedHandler, readTaskId?: typeof taskIdOf) => Handler;
  /** Reads the task of the URL path together with the key. Answers 404 if the account has no such task. */
  readonly guardedTask: (handler: TaskHandler) => Handler;
};

type Parts = {
  readonly accounts: UseCases["accounts"];
  readonly rates: PanoramaPolicy["rates"];
  readonly senders: Senders;
  readonly visitorLimits: Pick<VisitorLimits, "count" | "isUsedUp">;
};

/**
 * Answers 401 if the API key is invalid, expired or lacks the scope. Then answers 429 if the key has reached its rate
 * limit or, for a write, its account has. Does not read the body. Before all that, answers 429 if the network has sent
 * too many invalid keys, unless this process remembers the key from an earlier request (`senders.isKnown`).
 */
export function guard({ accounts, rates, senders, visitorLimits }: Parts): Guard {
  const policies = rateLimitPolicies(rates);
  const guarded: Guard["guarded"] = (kind, handler, readTaskId) => (exchange) => {
    const sent = secretOf(exchange);
    if (sent.isErr()) return errorReply(sent.error);
    const secret = sent.value;
    if (
      secret !== undefined &&
      visitorLimits.isUsedUp("key", () => senders.networkOf(exchange)) &&
      !senders.isKnown(secret)
    ) {
      return TOO_MANY_KEYS;
    }
    return whenReady(accounts.admitApiRequest(secret, kind, readTaskId?.(exchange)), (admitted) => {
      if (admitted.isErr()) {
        const { error } = admitted;
        if (secret && error.kind === "invalid_api_key") visitorLimits.count("key", senders.networkOf(exchange));
        return error.kind === "rate_limited" || error.kind === "account_rate_limited"
          ? withLimited(errorReply(error), policies, kind, error)
          : errorReply(secret ? unusable(error) : missing);
      }
      const { accountId, admission, key, secretSha256 } = admitted.value;
      exchange.sender = accountId;
      exchange.accountId = accountId;
      exchange.keyId = key.id;
      senders.learn(secretSha256, accountId);
      accounts.noteKeyUse(key.id);
      return whenReady(handler(exchange, admitted.value), (result) =>
        withAdmitted(result.isOk() ? result.value : errorReply(result.error), policies, kind, admission),
      );
    });
  };
  return {
    guarded,
    guardedTask: (handler) =>
      guarded(
        "read",
        (exchange, { task, key }) => (task ? handler(exchange, task, key) : unknownTask(exchange)),
        taskIdOf,
      ),
  };
}

const TOO_MANY_KEYS = errorBody(
  429,
  "rate_limited",
  "Too many requests with invalid API keys from this network. Retry in 1 s.",
  { headers: { "retry-after": "1" } },
);

const unauthenticated = (message: string): Unauthenticated => ({ kind: "invalid_api_key", message });

const missing = unauthenticated(
  "The API key is missing. Send it as Authorization: Bearer sk-…, or as x-api-key: sk-….",
);
const unusable = (refused: Exclude<RefusedRequest, RateLimited | AccountRateLimited>): Unauthenticated => {
  switch (refused.kind) {
    case "invalid_api_key":
      return invalid;
    case "account_suspended":
      return unauthenticated(suspendedSentence(refused));
    case "api_key_expired":
      return unauthenticated(`This API key expired at ${refused.expiredAt.toISOString()}. Create a new one.`);
    case "missing_scope":
      return unauthenticated(
        `This API key may not make this request: it lacks the scope "${refused.scope}", which ${REQUESTS[refused.scope]} need.`,
      );
  }
};

const REQUESTS: Readonly<Record<Scope, string>> = {
  read: "reading requests",
  create: "creations, uploads, cancellations and deletions",
};

const invalid = unauthenticated("The API key is not valid. It must be complete, begin with sk-, and not be revoked.");

/** Task id in the path. `undefined` if it is malformed. */
export const taskIdOf = (exchange: Exchange): TaskId | undefined => parseTaskId(exchange.parameter("id"));

/** The error for an id with which the account has no task (404). */
export const unknownTask = (exchange: Exchange): Result<never, NotFound> =>
  err(notFound(`There is no task ${shown(exchange.parameter("id"))} on this account.`));
