import type { AccountId } from "../../domain/ids.js";

/**
 * Wakes streams in this process when an account may have a new event. Signals may be late or missing, or there may be
 * no event: streams read the store.
 */
export interface EventSignals {
  /** Resolves on `wake` of this account, or when `signal` is aborted; never rejects. */
  next(account: AccountId, signal: AbortSignal): Promise<void>;
  /** The accounts with at least one waiting stream. */
  waitedFor(): AccountId[];
  wake(account: AccountId): void;
}
