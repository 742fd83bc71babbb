import type { ApiKeyId } from "../../domain/api-key.js";
import type { ApiKeyStore } from "../ports/api-key-store.js";
import type { Clock } from "../ports/clock.js";

type Ports = { readonly keys: Pick<ApiKeyStore, "recordUses">; readonly clock: Pick<Clock, "now"> };

export type KeyUses = ReturnType<typeof keyUses>;

/**
 * Remembers when each API key was last used, so that a request writes nothing. `flush` stores it, and must be called once
 * a minute and at the end; a killed process loses the last minute.
 */
export const keyUses = ({ keys, clock }: Ports) => {
  let pending = new Map<ApiKeyId, Date>();
  return {
    note: (id: ApiKeyId): void => {
      pending.set(id, clock.now());
    },
    /** What cannot be stored is remembered for the next time. Throws if the store is unreachable. */
    flush: async (): Promise<void> => {
      if (pending.size === 0) return;
      const uses = pending;
      pending = new Map();
      try {
        await keys.recordUses(uses);
      } catch (error) {
        for (const [id, at] of uses) if (!pending.has(id)) pending.set(id, at);
        throw error;
      }
    },
  };
};
