import { err, ok, type Result } from "neverthrow";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApiKeyStore } from "../ports/stores/accounts/api-key-store.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import { type CreatedApiKey, type NewApiKeyPorts, newApiKey } from "./new-api-key.js";

type Ports = NewApiKeyPorts & {
  readonly operators: Pick<OperatorStore, "key" | "setKeyLimits">;
  readonly keys: Pick<ApiKeyStore, "insert" | "revoke">;
};

/** The key is revoked or has expired: nothing uses it. */
export type KeyEnded = { readonly kind: "key_ended" };

/** `endsAt`: when the old key ends. */
export type RolledKey = CreatedApiKey & { readonly endsAt: Date };

/**
 * For the operator: makes a key with the name and the limits of another one, which ends after the overlap, or at once
 * without one. The new key is stored first: if this is interrupted, the old one goes on. The maximum of keys does not
 * count here, because a leaked key must be replaceable. Budgets of the new key begin anew.
 */
export const rollApiKey =
  (ports: Ports) =>
  async (id: ApiKeyId, overlapMilliseconds: number): Promise<Result<RolledKey, NotFound | KeyEnded>> => {
    const { operators, keys, clock } = ports;
    const old = await operators.key(id);
    if (old === undefined) return err(notFound(`There is no key ${id}.`));
    const now = clock.now();
    const { expiresAt } = old.limits;
    if (old.revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now)) return err({ kind: "key_ended" });
    const created = newApiKey(ports, old.accountId, old.name, old.limits);
    const inserted = await keys.insert(created.key, () => ok(undefined));
    if (inserted.isErr()) return err(inserted.error);
    const overlapEnds = new Date(now.getTime() + overlapMilliseconds);
    const endsAt = expiresAt !== undefined && expiresAt < overlapEnds ? expiresAt : overlapEnds;
    const ended =
      overlapMilliseconds === 0
        ? await keys.revoke(id, now)
        : await operators.setKeyLimits(id, { ...old.limits, expiresAt: endsAt }, now);
    return ended.map(() => ({ ...created, endsAt }));
  };
