import { err, ok, type Result } from "neverthrow";
import { type ApiKeyId, parseApiKeySecret } from "../../domain/accounts/api-key.js";
import { allowUse, type KeyValidity } from "../../domain/accounts/key-limits.js";
import {
  type AccountRateLimited,
  type Admission,
  accountRateLimited,
  type RateLimited,
} from "../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import { type Awaitable, whenReady } from "../awaitable.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { ApiKeyStore } from "../ports/stores/account-stores.js";
import type {
  AdmittedKey,
  AdmittedRequest,
  ApiRequests,
  RateLimits,
  RefusedRequest,
} from "../ports/stores/rate-limits.js";

/** Admission of requests with an API key. */
export function admissions({ apiRequests, secrets }: { readonly apiRequests: ApiRequests; readonly secrets: Secrets }) {
  return {
    /**
     * Admits a request with this API key, and reads `task` if given (specification, Authentication and Limits). Checks
     * the key, its expiry and its scopes, then its rate limit and, for a write, the account's.
     */
    admitApiRequest(
      apiKey: string | undefined,
      kind: RequestKind,
      task?: TaskId,
    ): Awaitable<Result<AdmittedRequest, RefusedRequest>> {
      const secret = apiKey === undefined ? undefined : parseApiKeySecret(apiKey);
      if (secret === undefined) return err({ kind: "invalid_api_key" });
      return apiRequests.admit(secrets.sha256(secret), kind, task);
    },
  };
}

/**
 * Counts a request for its key and, if it is a write that the key's limit admits, for its account. For stores that do
 * not count in the statement that reads the key (ports/stores/rate-limits.ts).
 */
export function countRequest(
  rateLimits: RateLimits,
  key: ApiKeyId,
  account: AccountId,
  kind: RequestKind,
): Awaitable<Result<Omit<Admission, "log">, RateLimited | AccountRateLimited>> {
  const byKey = rateLimits.admit(key, kind);
  if (kind !== "write") return byKey;
  return whenReady(byKey, (admitted) => {
    if (admitted.isErr()) return err(admitted.error);
    return whenReady(rateLimits.admit(account, "total"), (byAccount) =>
      byAccount.isErr() ? err(accountRateLimited(byAccount.error)) : ok(admitted.value),
    );
  });
}

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
export function keyUses({ keys, clock }: { readonly keys: Pick<ApiKeyStore, "recordUses">; readonly clock: Clock }) {
  /** Milliseconds: a number for each key takes a seventh of the memory of a date. */
  const pending = new Map<ApiKeyId, number>();
  const storedAt = new Map<ApiKeyId, number>();

  /** Keeps the uses in memory if the write fails. */
  async function store(uses: readonly (readonly [ApiKeyId, number])[]): Promise<void> {
    if (uses.length === 0) return;
    const now = clock.now().getTime();
    await keys.recordUses(new Map(uses.map(([id, at]) => [id, new Date(at)])));
    for (const [id, at] of uses) {
      if (pending.get(id) === at) pending.delete(id);
      storedAt.set(id, now);
    }
  }

  return {
    note(id: ApiKeyId): void {
      pending.set(id, clock.now().getTime());
    },

    flush(): Promise<void> {
      const now = clock.now().getTime();
      // Absolute difference: the clock may have been set back.
      for (const [id, at] of storedAt) if (Math.abs(now - at) >= PRECISION_MILLISECONDS) storedAt.delete(id);
      return store([...pending].filter(([id]) => !storedAt.has(id)));
    },

    flushAll(): Promise<void> {
      return store([...pending]);
    },
  };
}

/** Maximum time of an open request. A timer cannot run for the years until a key may expire. */
const OPEN_MILLISECONDS_MAX = 60 * 60 * 1000;

export type OpenKeys = ReturnType<typeof openKeys>;

/**
 * A request that is held open. `signal`: aborted when the client disconnects or the key becomes unusable; in the
 * second case `isKeyUnusable()` is true. Call `release` at the end of the request, unless the client has disconnected.
 */
export type OpenKey = {
  readonly signal: AbortSignal;
  readonly release: () => void;
  readonly isKeyUnusable: () => boolean;
};

/**
 * The API keys of the requests that this process holds open: event streams and waits. A request ends when its key
 * expires, and within a second after the key was revoked or changed, or its account closed
 * (background/watch-changes.ts).
 */
export function openKeys({ clock }: { readonly clock: Clock }) {
  const open = new Map<ApiKeyId, Set<() => void>>();
  return {
    /** `client`: aborted when the client disconnects. */
    watch({ id, expiresAt }: Pick<AdmittedKey, "id" | "expiresAt">, client: AbortSignal): OpenKey {
      const ended = new AbortController();
      let isUnusable = false;
      const ends = open.get(id) ?? new Set();
      open.set(id, ends);
      const release = () => {
        client.removeEventListener("abort", release);
        ends.delete(end);
        if (ends.size === 0 && open.get(id) === ends) open.delete(id);
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
      if (left <= OPEN_MILLISECONDS_MAX) void clock.sleep(left, ended.signal).then(end);
      return { signal: ended.signal, release, isKeyUnusable: () => isUnusable };
    },

    ids(): ApiKeyId[] {
      return [...open.keys()];
    },

    /** Ends the requests of unusable keys among `ids`. `live`: limits of the keys that are not revoked. */
    endUnusable(ids: readonly ApiKeyId[], live: ReadonlyMap<ApiKeyId, KeyValidity>): void {
      const now = clock.now();
      for (const id of ids) {
        const limits = live.get(id);
        if (limits === undefined || allowUse(limits, "read", now).isErr()) for (const end of open.get(id) ?? []) end();
      }
    },
  };
}
