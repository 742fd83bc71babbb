/**
 * A counting semaphore: runs at most `concurrency` pieces of work at once; the others wait. The owners of what waits
 * take turns, and each has its work done in order of arrival. Work without an owner is that of one owner.
 */
export class Semaphore {
  private free: number;
  /** What waits, by owner. The first owner has the next turn. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(concurrency: number) {
    this.free = concurrency;
  }

  async run<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.turn(owner);
    try {
      return await work();
    } finally {
      this.passOn();
    }
  }

  private turn(owner: string): Promise<void> {
    const line = this.waiting.get(owner) ?? [];
    this.waiting.set(owner, line);
    return new Promise((resolve) => line.push(resolve));
  }

  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free += 1;
      return;
    }
    const [owner, line] = next;
    const start = line.shift();
    this.waiting.delete(owner);
    if (line.length > 0) this.waiting.set(owner, line);
    start?.();
  }
}
