import type { AccountId } from "../../../domain/ids.js";

/** Streams of one account that may be open in this process at the same time. */
export const OPEN_STREAMS_MAX = 10;

/** `signal` is aborted when the stream must end: its client has left, the server stops, or `close` was called. */
export type OpenStream = { readonly signal: AbortSignal; close(): void };

/** Counts the open streams of events, so that no account has an unlimited number of them. */
export class OpenStreams {
  private readonly counts = new Map<AccountId, number>();

  /**
   * Returns `undefined` if the account already has as many streams as it may. `client`: aborted when the client leaves.
   */
  open(account: AccountId, client: AbortSignal): OpenStream | undefined {
    const open = this.counts.get(account) ?? 0;
    if (open >= OPEN_STREAMS_MAX) return undefined;
    this.counts.set(account, open + 1);
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
    const open = (this.counts.get(account) ?? 1) - 1;
    if (open === 0) this.counts.delete(account);
    else this.counts.set(account, open);
  }
}

/**
 * Requests of one account that may wait in this process at the same time: ten for each task it may have in progress.
 */
export const OPEN_WAITS_MAX = 50;

/**
 * Counts the requests that wait (`Prefer: wait`), so that no account has an unlimited number of them. The ones above
 * are answered at once and not refused, which RFC 7240 allows.
 */
export class OpenWaits {
  private readonly counts = new Map<AccountId, number>();

  /** Returns `undefined`, and does not call `wait`, if the account already has as many waits as it may. */
  run<T>(account: AccountId, wait: () => Promise<T>): Promise<T> | undefined {
    const open = this.counts.get(account) ?? 0;
    if (open >= OPEN_WAITS_MAX) return undefined;
    this.counts.set(account, open + 1);
    return wait().finally(() => this.release(account));
  }

  private release(account: AccountId): void {
    const open = (this.counts.get(account) ?? 1) - 1;
    if (open === 0) this.counts.delete(account);
    else this.counts.set(account, open);
  }
}
