import type { Result } from "neverthrow";
import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
import type { KeyUses } from "../../application/accounts/key-uses.js";
import { type Awaitable, whenReady } from "../../application/awaitable.js";
import type { AdmittedKey, RefusedRequest } from "../../application/ports/api-requests.js";
import type { AccountId } from "../../domain/account.js";
import type { Scope } from "../../domain/key-limits.js";
import type { PanoramaPolicy, RequestKind } from "../../domain/panorama-policy.js";
import type { AccountRateLimited, RateLimited } from "../../domain/rate-limit.js";
import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { secretOf } from "./api-key-header.js";
import { type ApiError, errorBody, errorReply, type Unauthenticated } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { rateLimitPolicies, withAdmitted, withLimited } from "./rate-limit-headers.js";
import type { Reply } from "./reply.js";
import type { Handler } from "./routes.js";
import type { Senders } from "./senders.js";
import type { VisitorLimits } from "./visitor-limits.js";

/**
 * Handles a request that is authenticated and within the rate limit. `task` is the one that the route has named, `apiKey`
 * the key of the request.
 */
export type GuardedHandler = (
  exchange: Exchange,
  owner: AccountId,
  task: Task | undefined,
  apiKey: AdmittedKey,
) => Awaitable<Result<Reply, ApiError>>;

/** `taskOf` names the task to read together with the key. */
export type Guard = (
  kind: RequestKind,
  handler: GuardedHandler,
  taskOf?: (exchange: Exchange) => TaskId | undefined,
) => Handler;

type Parts = {
  readonly admitApiRequest: AdmitApiRequest;
  readonly uses: Pick<KeyUses, "note">;
  readonly rates: PanoramaPolicy["rates"];
  readonly senders: Senders;
  readonly limits: Pick<VisitorLimits, "refuses" | "isUsedUp">;
};

/**
 * Checks the API key with its expiry and scopes (401), then the rate limit of the key, and of the account for writes
 * (429). Does not read the body. A network that has sent too many keys that are not valid must wait before another key that
 * is not known is looked up (429).
 */
export const guard = ({ admitApiRequest, uses, rates, senders, limits }: Parts): Guard => {
  const policies = rateLimitPolicies(rates);
  return (kind, handler, taskOf) => (exchange) => {
    const sent = secretOf(exchange);
    if (sent.isErr()) return errorReply(sent.error);
    const secret = sent.value;
    if (secret !== undefined && limits.isUsedUp("key", () => senders.networkOf(exchange)) && !senders.isKnown(secret)) {
      return TOO_MANY_KEYS;
    }
    return whenReady(admitApiRequest(secret, kind, taskOf?.(exchange)), (admitted) => {
      if (admitted.isErr()) {
        const { error } = admitted;
        if (secret && error.kind === "invalid_api_key") limits.refuses("key", senders.networkOf(exchange));
        return error.kind === "rate_limited" || error.kind === "account_rate_limited"
          ? withLimited(errorReply(error), policies, kind, error)
          : errorReply(secret ? unusable(error) : missing);
      }
      const { accountId, admission, task, key } = admitted.value;
      exchange.sender = accountId;
      if (secret !== undefined) senders.learn(secret, accountId);
      uses.note(key.id);
      return whenReady(handler(exchange, accountId, task, key), (result) =>
        withAdmitted(result.isOk() ? result.value : errorReply(result.error), policies, kind, admission),
      );
    });
  };
};

const TOO_MANY_KEYS = errorBody(
  429,
  "rate_limited",
  "Too many requests with API keys that are not valid have come from this network. Retry in 1 s.",
  { "retry-after": "1" },
);

const unauthenticated = (message: string): Unauthenticated => ({ kind: "invalid_api_key", message });

const missing = unauthenticated(
  "The API key is missing. Send it as Authorization: Bearer sk-…, or as x-api-key: sk-….",
);
const unusable = (refused: Exclude<RefusedRequest, RateLimited | AccountRateLimited>): Unauthenticated => {
  switch (refused.kind) {
    case "invalid_api_key":
      return invalid;
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
