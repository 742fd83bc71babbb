import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";

type Ports = { readonly keys: Pick<ApiKeyStore, "revoke">; readonly clock: Pick<Clock, "now"> };

/** For the operator: revokes a key of any account. */
export const revokeAnyApiKey =
  ({ keys, clock }: Ports) =>
  (id: ApiKeyId): Promise<Result<void, NotFound>> =>
    keys.revoke(id, clock.now());
