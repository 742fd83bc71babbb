import { err, ok, type Result } from "neverthrow";
import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
import { type Awaitable, whenReady } from "../../application/awaitable.js";
import type { AccountId } from "../../domain/account.js";
import type { RequestKind } from "../../domain/rate-limit.js";
import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { type ApiError, errorReply, type Unauthenticated } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { Handler } from "./listener.js";
import { withAdmitted, withLimited } from "./rate-limit-headers.js";
import type { Reply } from "./reply.js";

/** Handles a request that is authenticated and within the rate limit. `task` is the one that the route has named. */
export type GuardedHandler = (
  exchange: Exchange,
  owner: AccountId,
  task: Task | undefined,
) => Awaitable<Result<Reply, ApiError>>;

/** `taskOf` names the task to read together with the key. */
export type Guard = (
  kind: RequestKind,
  handler: GuardedHandler,
  taskOf?: (exchange: Exchange) => TaskId | undefined,
) => Handler;

/** Checks the API key (401), then the rate limit of the key, and of the account for writes (429). Does not read the body. */
export const guard =
  (admitApiRequest: AdmitApiRequest): Guard =>
  (kind, handler, taskOf) =>
  (exchange) => {
    const secret = secretOf(exchange);
    if (secret.isErr()) return errorReply(secret.error);
    return whenReady(admitApiRequest(secret.value, kind, taskOf?.(exchange)), (admitted) => {
      if (admitted.isErr()) {
        const { error } = admitted;
        if (error.kind === "invalid_api_key") return errorReply(secret.value ? invalid : missing);
        return withLimited(errorReply(error), kind, error);
      }
      const { accountId, admission, task } = admitted.value;
      return whenReady(handler(exchange, accountId, task), (result) =>
        withAdmitted(result.isOk() ? result.value : errorReply(result.error), kind, admission),
      );
    });
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
