import type { ApiKey, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { Secrets } from "../ports/secrets.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "keyWithSecret">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** For the operator: the key of any account with this secret, such as one that has leaked; also a revoked one. */
export const findKeyBySecret =
  ({ operators, secrets }: Ports) =>
  (secret: ApiKeySecret): Promise<ApiKey | undefined> =>
    operators.keyWithSecret(secrets.sha256(secret));
