import { err, type Result } from "neverthrow";
import { admitKey, allowKey, type NoPaidOrder, type TooManyApiKeys } from "../../domain/accounts/api-key.js";
import { type KeyLimits, NO_LIMITS } from "../../domain/accounts/key-limits.js";
import type { AccountId } from "../../domain/ids.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";
import type { OrderStore } from "../ports/stores/order-store.js";
import { type CreatedApiKey, type NewApiKeyPorts, newApiKey } from "./new-api-key.js";

type Ports = NewApiKeyPorts & {
  readonly orders: Pick<OrderStore, "countPaid">;
  readonly keys: Pick<ApiKeyStore, "insert">;
};

/**
 * Creates a key; refused without a paid order (specification, Authentication, 3) and above the maximum of live keys.
 */
export const createApiKey =
  (ports: Ports) =>
  async (
    accountId: AccountId,
    name: string,
    limits: KeyLimits = NO_LIMITS,
  ): Promise<Result<CreatedApiKey, NoPaidOrder | TooManyApiKeys>> => {
    const allowed = allowKey(accountId, await ports.orders.countPaid(accountId));
    if (allowed.isErr()) return err(allowed.error);
    const created = newApiKey(ports, accountId, name, limits);
    return (await ports.keys.insert(created.key, admitKey)).map(() => created);
  };
