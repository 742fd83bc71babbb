import { err, ok, type Result } from "neverthrow";
import { type ApiKey, parseApiKeySecret } from "../../domain/api-key.js";
import type { ApiKeyStore } from "../ports/api-key-store.js";
import type { Secrets } from "../ports/secrets.js";

/** Unknown and revoked keys give the same error. */
export type InvalidApiKey = { readonly kind: "invalid_api_key" };

type Ports = { readonly keys: Pick<ApiKeyStore, "findLive">; readonly secrets: Pick<Secrets, "sha256"> };

export type Authenticate = ReturnType<typeof authenticate>;

/** Returns the API key that has this secret (specification, Authentication). */
export const authenticate =
  ({ keys, secrets }: Ports) =>
  async (text: string | undefined): Promise<Result<ApiKey, InvalidApiKey>> => {
    const secret = text === undefined ? undefined : parseApiKeySecret(text);
    const key = secret === undefined ? undefined : await keys.findLive(secrets.sha256(secret));
    return key === undefined ? err({ kind: "invalid_api_key" }) : ok(key);
  };
