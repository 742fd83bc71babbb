import { err, ok, type Result } from "neverthrow";
import type { Authenticate } from "../../application/accounts/authenticate.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { AccountId } from "../../domain/account.js";
import type { RequestKind } from "../../domain/rate-limit.js";
import { type ApiError, errorReply, type Unauthenticated } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { Handler } from "./listener.js";
import { withAdmitted, withLimited } from "./rate-limit-headers.js";
import type { Reply } from "./reply.js";

type Ports = { readonly authenticate: Authenticate; readonly rateLimits: RateLimits };

/** Handles a request that is authenticated and within the rate limit. */
export type GuardedHandler = (exchange: Exchange, owner: AccountId) => Promise<Result<Reply, ApiError>>;

export type Guard = (kind: RequestKind, handler: GuardedHandler) => Handler;

/** Checks the API key (401), then the rate limit of the key (429). Does not read the body. */
export const guard =
  ({ authenticate, rateLimits }: Ports): Guard =>
  (kind, handler) =>
  async (exchange) => {
    const secret = secretOf(exchange);
    if (secret.isErr()) return errorReply(secret.error);
    const key = await authenticate(secret.value);
    if (key.isErr()) return errorReply(secret.value ? invalid : missing);
    const { id, accountId } = key.value;
    const admitted = await rateLimits.admit(id, kind);
    if (admitted.isErr()) return withLimited(errorReply(admitted.error), kind, admitted.error);
    const result = await handler(exchange, accountId);
    return withAdmitted(result.isOk() ? result.value : errorReply(result.error), kind, admitted.value);
  };

const secretOf = (exchange: Exchange): Result<string | undefined, Unauthenticated> => {
  const authorization = exchange.header("authorization");
  const bearer = authorization === undefined ? undefined : (/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "");
  const xApiKey = exchange.header("x-api-key");
  return bearer !== undefined && xApiKey !== undefined && bearer !== xApiKey ? differ : ok(bearer ?? xApiKey);
};

const unauthenticated = (message: string): Unauthenticated => ({ kind: "invalid_api_key", message });

const missing = unauthenticated(
  "The API key is missing. Send it as Authorization: Bearer sk-…, or as x-api-key: sk-….",
);
const invalid = unauthenticated("The API key is not valid. It must be complete, begin with sk-, and not be revoked.");
const differ = err(unauthenticated("Authorization and x-api-key contain different API keys. Send only one of them."));
