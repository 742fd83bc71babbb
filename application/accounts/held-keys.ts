import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import { allowUse, type KeyValidity } from "../../domain/accounts/key-limits.js";
import type { Clock } from "../ports/clock.js";
import type { AdmittedKey } from "../ports/stores/rate-limits.js";

/** Maximum time of a held request. A timer cannot run for the years until a key may expire. */
const HELD_MILLISECONDS_MAX = 60 * 60 * 1000;

/** Result of `heldKeys`. */
export type HeldKeys = ReturnType<typeof heldKeys>;

/**
 * A request that is held open. `signal`: aborted when the client disconnects or the key becomes unusable; in the
 * second case `isKeyUnusable()` is true. Call `release` at the end of the request, unless the client has disconnected.
 */
export type HeldKey = {
  readonly signal: AbortSignal;
  readonly release: () => void;
  readonly isKeyUnusable: () => boolean;
};

/**
 * The API keys of the requests that this process holds open: event streams and waits. A request ends when its key
 * expires, and within a second after the key was revoked or changed, or its account closed
 * (background/watch-changes.ts).
 */
export const heldKeys = ({ clock }: { readonly clock: Pick<Clock, "now" | "sleep"> }) => {
  const held = new Map<ApiKeyId, Set<() => void>>();
  return {
    /** `client`: aborted when the client disconnects. */
    hold: ({ id, expiresAt }: Pick<AdmittedKey, "id" | "expiresAt">, client: AbortSignal): HeldKey => {
      const ended = new AbortController();
      let isUnusable = false;
      const ends = held.get(id) ?? new Set();
      held.set(id, ends);
      const release = () => {
        client.removeEventListener("abort", release);
        ends.delete(end);
        if (ends.size === 0 && held.get(id) === ends) held.delete(id);
        ended.abort();
      };
      const end = () => {
        isUnusable ||= !ended.signal.aborted;
        release();
      };
      ends.add(end);
      client.addEventListener("abort", release);
      if (client.aborted) release();
      const left = expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt.getTime() - clock.now().getTime();
      if (left <= HELD_MILLISECONDS_MAX) void clock.sleep(left, ended.signal).then(end);
      return { signal: ended.signal, release, isKeyUnusable: () => isUnusable };
    },
    ids: (): ApiKeyId[] => [...held.keys()],
    /** Ends the requests of unusable keys among `ids`. `live`: limits of the keys that are not revoked. */
    endUnusable: (ids: readonly ApiKeyId[], live: ReadonlyMap<ApiKeyId, KeyValidity>): void => {
      const now = clock.now();
      for (const id of ids) {
        const limits = live.get(id);
        if (limits === undefined || allowUse(limits, "read", now).isErr()) for (const end of held.get(id) ?? []) end();
      }
    },
  };
};
