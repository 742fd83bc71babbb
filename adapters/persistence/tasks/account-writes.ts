import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import type { AccountId } from "../../../domain/ids.js";

/** As long as PostgreSQL lets a statement wait for a lock. */
const WAIT_MILLISECONDS_MAX = 3_000;

/**
 * One after the other, this process writes what locks an account's row on PostgreSQL. A transaction holds that lock
 * during its round trips, which take long in a process with much to do. If fifty of them waited in the database, each
 * would occupy a connection, and the last ones would meet the lock timeout. Other processes wait for one of them at
 * most.
 */
export class AccountWrites {
  /** The last write of each account that runs or waits. */
  private readonly last = new Map<AccountId, Promise<void>>();

  /**
   * `waited`: others may have changed the account since this was called. Rejects with `StoreBusy` if it waits too long.
   */
  inOrder<T>(account: AccountId, work: (waited: boolean) => Promise<T>): Promise<T> {
    const before = this.last.get(account);
    const since = performance.now();
    const result =
      before === undefined
        ? work(false)
        : before.then(() => {
            if (performance.now() - since <= WAIT_MILLISECONDS_MAX) return work(true);
            throw new StoreBusy("Too many writes of this account wait in this process.");
          });
    const written: Promise<void> = result.then(ignore, ignore).then(() => {
      if (this.last.get(account) === written) this.last.delete(account);
    });
    this.last.set(account, written);
    return result;
  }
}

function ignore(): void {}
