import { type ApiKey, parseApiKeyId, parseApiKeySecret, parsePrefix } from "../../domain/accounts/api-key.js";
import type { Secrets } from "../ports/secrets.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "findKeys" | "key">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/**
 * For the operator: the keys that this text names: a secret, the beginning of one with at least 8 characters behind
 * `sk-`, or an id. A secret also finds its key if that has no prefix.
 */
export const findKeys =
  ({ operators, secrets }: Ports) =>
  async (text: string): Promise<readonly ApiKey[]> => {
    const secret = parseApiKeySecret(text);
    if (secret !== undefined) return operators.findKeys(secrets.sha256(secret));
    const prefix = parsePrefix(text);
    if (prefix !== undefined) return operators.findKeys(prefix);
    const id = parseApiKeyId(text);
    const key = id && (await operators.key(id));
    return key === undefined ? [] : [key];
  };
