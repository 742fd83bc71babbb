import { err, ok, type Result } from "neverthrow";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import {
  type AccountRateLimited,
  type Admission,
  accountRateLimited,
  type RateLimited,
} from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import { type Awaitable, whenReady } from "../awaitable.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";

/**
 * Counts a request for its key and, if it is a write that the key's limit admits, for its account. For stores that
 * count apart from what they read (ports/api-requests.ts).
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
