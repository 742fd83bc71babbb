import type { AccountId } from "../../../domain/ids.js";

/**
 * Requests of one account that may wait in this process at the same time: ten for each task it may have in progress.
 */
export const HELD_WAITS_MAX = 50;

/**
 * Counts the requests that wait (`Prefer: wait`), so that no account holds an unlimited number of them. The ones above
 * are answered at once and not refused, which RFC 7240 allows.
 */
export class HeldWaits {
  private readonly held = new Map<AccountId, number>();

  /** Returns `undefined`, and does not call `wait`, if the account already holds as many waits as it may. */
  hold<T>(account: AccountId, wait: () => Promise<T>): Promise<T> | undefined {
    const held = this.held.get(account) ?? 0;
    if (held >= HELD_WAITS_MAX) return undefined;
    this.held.set(account, held + 1);
    return wait().finally(() => this.release(account));
  }

  private release(account: AccountId): void {
    const held = (this.held.get(account) ?? 1) - 1;
    if (held === 0) this.held.delete(account);
    else this.held.set(account, held);
  }
}
