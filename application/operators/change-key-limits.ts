import { err, ok, type Result } from "neverthrow";
import type { ApiKey, ApiKeyId } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "key" | "setKeyLimits">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * For the operator: changes the limits of a key for the requests that begin afterwards. `change` receives the present
 * limits. Returns the key as it is then.
 */
export const changeKeyLimits =
  ({ operators, clock }: Ports) =>
  async (
    id: ApiKeyId,
    change: (limits: KeyLimits, now: Date) => Result<KeyLimits, InvalidRequest>,
  ): Promise<Result<ApiKey, NotFound | InvalidRequest>> => {
    const key = await operators.key(id);
    if (key === undefined) return err(notFound(`There is no key ${id}.`));
    const now = clock.now();
    const limits = change(key.limits, now);
    if (limits.isErr()) return err(limits.error);
    const changed = await operators.setKeyLimits(id, limits.value, now);
    return changed.andThen(() => ok({ ...key, limits: limits.value }));
  };
