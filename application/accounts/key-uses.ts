import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/account-stores.js";

type Ports = { readonly keys: Pick<ApiKeyStore, "recordUses">; readonly clock: Pick<Clock, "now"> };

/** Result of `keyUses`. */
export type KeyUses = ReturnType<typeof keyUses>;

/** A busy key is written at most once an hour. */
const PRECISION_MILLISECONDS = 60 * 60 * 1000;

/**
 * Collects the last use of each API key in memory, so that requests write nothing. `flush`, called every minute, stores
 * the keys not stored in the last hour; `flushAll`, called at the end, stores all. A killed process loses the rest.
 * Both throw if the store is unreachable.
 *
 * Once a minute was too often: many keys held up requests.
 */
export const keyUses = ({ keys, clock }: Ports) => {
  /** Milliseconds: a number for each key takes a seventh of the memory of a date. */
  const pending = new Map<ApiKeyId, number>();
  const storedAt = new Map<ApiKeyId, number>();

  /** Keeps the uses in memory if the write fails. */
  const store = async (uses: readonly (readonly [ApiKeyId, number])[]): Promise<void> => {
    if (uses.length === 0) return;
    const now = clock.now().getTime();
    await keys.recordUses(new Map(uses.map(([id, at]) => [id, new Date(at)])));
    for (const [id, at] of uses) {
      if (pending.get(id) === at) pending.delete(id);
      storedAt.set(id, now);
    }
  };

  return {
    note: (id: ApiKeyId): void => {
      pending.set(id, clock.now().getTime());
    },
    flush: (): Promise<void> => {
      const now = clock.now().getTime();
      // Absolute difference: the clock may have been set back.
      for (const [id, at] of storedAt) if (Math.abs(now - at) >= PRECISION_MILLISECONDS) storedAt.delete(id);
      return store([...pending].filter(([id]) => !storedAt.has(id)));
    },
    flushAll: (): Promise<void> => store([...pending]),
  };
};
