/** Calls in this process that wait until somebody wakes those of a key. */
export class WaitingCalls<Key> {
  private readonly waiting = new Map<Key, Set<() => void>>();

  /** The keys with at least one waiting call. */
  keys(): Key[] {
    return [...this.waiting.keys()];
  }

  /** Number of keys with at least one waiting call. */
  get size(): number {
    return this.waiting.size;
  }

  wake(key: Key): void {
    for (const wake of this.waiting.get(key) ?? []) wake();
  }

  /** Resolves on `wake` of this key, or when `signal` is aborted; never rejects. */
  next(key: Key, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wakes = this.waiting.get(key) ?? new Set();
      const wake = () => {
        signal.removeEventListener("abort", wake);
        wakes.delete(wake);
        if (wakes.size === 0) this.waiting.delete(key);
        resolve();
      };
      wakes.add(wake);
      this.waiting.set(key, wakes);
      signal.addEventListener("abort", wake);
    });
  }
}
