import { err, type Result } from "neverthrow";
import { parseApiKeySecret } from "../../domain/accounts/api-key.js";
import type { TaskId } from "../../domain/ids.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import type { Awaitable } from "../awaitable.js";
import type { Secrets } from "../ports/secrets.js";
import type { AdmittedRequest, ApiRequests, RefusedRequest } from "../ports/stores/accounts/api-requests.js";

type Ports = { readonly requests: ApiRequests; readonly secrets: Pick<Secrets, "sha256"> };

/**
 * Admits a request with this API key, and reads `task` if it is given (specification, Authentication and Limits).
 * Checks the key, its expiry and its scopes first, then its rate limit and, for a write, that of its account.
 */
export const admitApiRequest =
  ({ requests, secrets }: Ports) =>
  (
    apiKey: string | undefined,
    kind: RequestKind,
    task?: TaskId,
  ): Awaitable<Result<AdmittedRequest, RefusedRequest>> => {
    // Stryker disable next-line ConditionalExpression: without a key there is no text that could be one
    const secret = apiKey === undefined ? undefined : parseApiKeySecret(apiKey);
    return secret === undefined ? err({ kind: "invalid_api_key" }) : requests.admit(secrets.sha256(secret), kind, task);
  };
