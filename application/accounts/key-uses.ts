import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/account-stores.js";

type Ports = { readonly keys: Pick<ApiKeyStore, "recordUses">; readonly clock: Pick<Clock, "now"> };

/** What `keyUses` returns. */
export type KeyUses = ReturnType<typeof keyUses>;

/** A key that is in use all the time is written once in this time. */
const PRECISION_MILLISECONDS = 60 * 60 * 1000;

/**
 * Remembers when each API key was last used, so that a request writes nothing. `flush` stores the uses of the keys that
 * it has not stored for an hour, and must be called once a minute; `flushAll` stores every use, and must be called at
 * the end. A killed process loses what is not stored yet. Both throw if the store is unreachable.
 *
 * Once a minute was too often: many keys held up requests.
 */
export const keyUses = ({ keys, clock }: Ports) => {
  /** In milliseconds: a number for each key takes a seventh of the memory of a date. */
  const pending = new Map<ApiKeyId, number>();
  const storedAt = new Map<ApiKeyId, number>();

  /** What cannot be stored is remembered for the next time. */
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
      // Also after a clock was set back.
      for (const [id, at] of storedAt) if (Math.abs(now - at) >= PRECISION_MILLISECONDS) storedAt.delete(id);
      return store([...pending].filter(([id]) => !storedAt.has(id)));
    },
    flushAll: (): Promise<void> => store([...pending]),
  };
};
