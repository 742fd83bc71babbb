import { err, ok, type Result } from "neverthrow";
import { type ApiKeyId, parseApiKeySecret } from "../../domain/accounts/api-key.js";
import {
  type AccountRateLimited,
  type Admission,
  accountRateLimited,
  type RateLimited,
} from "../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import { type Awaitable, whenReady } from "../awaitable.js";
import type { Secrets } from "../ports/secrets.js";
import type { AdmittedRequest, ApiRequests, RateLimits, RefusedRequest } from "../ports/stores/rate-limits.js";

type Ports = { readonly requests: ApiRequests; readonly secrets: Pick<Secrets, "sha256"> };

/**
 * Admits a request with this API key, and reads `task` if given (specification, Authentication and Limits). Checks the
 * key, its expiry and its scopes, then its rate limit and, for a write, the account's.
 */
export const admitApiRequest =
  ({ requests, secrets }: Ports) =>
  (
    apiKey: string | undefined,
    kind: RequestKind,
    task?: TaskId,
  ): Awaitable<Result<AdmittedRequest, RefusedRequest>> => {
    const secret = apiKey === undefined ? undefined : parseApiKeySecret(apiKey);
    return secret === undefined ? err({ kind: "invalid_api_key" }) : requests.admit(secrets.sha256(secret), kind, task);
  };

/**
 * Counts a request for its key and, if it is a write that the key's limit admits, for its account. For stores that do
 * not count in the statement that reads the key (ports/stores/rate-limits.ts).
 */
export const countRequest = (
  rateLimits: RateLimits,
  key: ApiKeyId,
  account: AccountId,
  kind: RequestKind,
): Awaitable<Result<Omit<Admission, "log">, RateLimited | AccountRateLimited>> => {
  const byKey = rateLimits.admit(key, kind);
  if (kind !== "write") return byKey;
  return whenReady(byKey, (admitted) => {
    if (admitted.isErr()) return err(admitted.error);
    return whenReady(rateLimits.admit(account, "total"), (byAccount) =>
      byAccount.isErr() ? err(accountRateLimited(byAccount.error)) : ok(admitted.value),
    );
  });
};
