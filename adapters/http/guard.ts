import { err, ok, type Result } from "neverthrow";
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
import { type ApiError, errorReply, type Unauthenticated } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { rateLimitPolicies, withAdmitted, withLimited } from "./rate-limit-headers.js";
import type { Reply } from "./reply.js";
import type { Handler } from "./routes.js";

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

/**
 * Checks the API key with its expiry and scopes (401), then the rate limit of the key, and of the account for writes
 * (429). Does not read the body.
 */
export const guard = (
  admitApiRequest: AdmitApiRequest,
  uses: Pick<KeyUses, "note">,
  rates: PanoramaPolicy["rates"],
): Guard => {
  const policies = rateLimitPolicies(rates);
  return (kind, handler, taskOf) => (exchange) => {
    const secret = secretOf(exchange);
    if (secret.isErr()) return errorReply(secret.error);
    return whenReady(admitApiRequest(secret.value, kind, taskOf?.(exchange)), (admitted) => {
      if (admitted.isErr()) {
        const { error } = admitted;
        return error.kind === "rate_limited" || error.kind === "account_rate_limited"
          ? withLimited(errorReply(error), policies, kind, error)
          : errorReply(secret.value ? unusable(error) : missing);
      }
      const { accountId, admission, task, key } = admitted.value;
      uses.note(key.id);
      return whenReady(handler(exchange, accountId, task, key), (result) =>
        withAdmitted(result.isOk() ? result.value : errorReply(result.error), policies, kind, admission),
      );
    });
  };
};

/** Credentials of another scheme are for somebody else, such as a proxy. */
const secretOf = (exchange: Exchange): Result<string | undefined, Unauthenticated> => {
  const authorization = exchange.header("authorization");
  const bearer = authorization === undefined ? undefined : /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd();
  const xApiKey = exchange.header("x-api-key");
  return bearer !== undefined && xApiKey !== undefined && bearer !== xApiKey ? differ : ok(bearer ?? xApiKey);
};

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

const REQUESTS: Readonly<Record<Scope, string>> = { read: "reading requests", create: "creations and uploads" };

const invalid = unauthenticated("The API key is not valid. It must be complete, begin with sk-, and not be revoked.");
const differ = err(unauthenticated("Authorization and x-api-key contain different API keys. Send only one of them."));
