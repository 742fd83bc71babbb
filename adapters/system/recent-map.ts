/**
 * A map of what was used lately: it keeps the `max` entries that were set or read last, and at most twice as many. They
 * are in two generations. When the younger one is full the older one is dropped, and what is read there becomes young
 * again. So every call takes the same time; deleting the first entry of a `Map` again and again does not.
 */
export class RecentMap<Key, Value> {
  private readonly max: number;
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();

  constructor(max: number) {
    this.max = max;
  }

  get(key: Key): Value | undefined {
    const young = this.young.get(key);
    if (young !== undefined) return young;
    const value = this.old.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Does not count as a use. */
  has(key: Key): boolean {
    return this.young.has(key) || this.old.has(key);
  }

  set(key: Key, value: Value): void {
    if (this.young.size >= this.max && !this.young.has(key)) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }
}
