/** Lets so many pieces of work run at once; the others wait in line. */
export class Gate {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(concurrency: number) {
    this.free = concurrency;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next(); // hands its place on
    }
  }
}
