import { err, ok, type Result } from "neverthrow";
import { type ApiKey, parseApiKeySecret } from "../../domain/api-key.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Secrets } from "../ports/secrets.js";

export type InvalidApiKey = { readonly kind: "invalid_api_key" };

export type Authenticate = ReturnType<typeof authenticate>;

/** Specification, Authentication: the key behind a secret; unknown and revoked ones are not told apart. */
export const authenticate =
  ({ accounts, secrets }: { readonly accounts: AccountStore; readonly secrets: Secrets }) =>
  async (text: string | undefined): Promise<Result<ApiKey, InvalidApiKey>> => {
    const secret = text === undefined ? undefined : parseApiKeySecret(text);
    const key = secret === undefined ? undefined : await accounts.findKey(secrets.sha256(secret));
    return key === undefined ? err({ kind: "invalid_api_key" }) : ok(key);
  };
