import type { AccountId } from "../../../domain/ids.js";

/** Streams of one account that may be open in this process at the same time. */
export const HELD_STREAMS_MAX = 10;

/** `signal` is aborted when the stream must end: its client has left, the server stops, or `close` was called. */
export type HeldStream = { readonly signal: AbortSignal; close(): void };

/** Counts the open streams of events, so that no account holds an unlimited number of them. */
export class HeldStreams {
  private readonly held = new Map<AccountId, number>();

  /**
   * Returns `undefined` if the account already has as many streams as it may. `client`: aborted when the client leaves.
   */
  open(account: AccountId, client: AbortSignal): HeldStream | undefined {
    const held = this.held.get(account) ?? 0;
    if (held >= HELD_STREAMS_MAX) return undefined;
    this.held.set(account, held + 1);
    const ended = new AbortController();
    ended.signal.addEventListener("abort", () => this.release(account));
    const close = () => {
      client.removeEventListener("abort", close);
      ended.abort();
    };
    client.addEventListener("abort", close);
    if (client.aborted) close();
    return { signal: ended.signal, close };
  }

  private release(account: AccountId): void {
    const held = (this.held.get(account) ?? 1) - 1;
    if (held === 0) this.held.delete(account);
    else this.held.set(account, held);
  }
}

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
