/**
 * A counting semaphore: runs at most `concurrency` pieces of work at once; the others wait. The owners of what waits
 * take turns, and each has its work done in order of arrival. Work without an owner counts as work of one owner.
 */
export class Semaphore {
  private free: number;
  /** Waiting work, by owner. The first owner has the next turn. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(concurrency: number) {
    this.free = concurrency;
  }

  async run<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.slot(owner);
    try {
      return await work();
    } finally {
      this.passOn();
    }
  }

  private slot(owner: string): Promise<void> {
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

/** Reason why work was not run: the queue was full, or its caller left before its turn. */
type NotRun = "full" | "left";

type Waiting = { readonly start: () => void };

/** Runs one piece of work at a time, in order of arrival. At most `waitingMax` wait. */
export class BoundedQueue {
  private readonly waitingMax: number;
  private readonly waiting = new Set<Waiting>();
  private running = false;

  constructor(waitingMax: number) {
    this.waitingMax = waitingMax;
  }

  /** Resolves to what `work` returns. Work that waits is dropped at once when `signal` is aborted. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<{ readonly done: T } | NotRun> {
    if (signal?.aborted) return "left";
    if (this.running) {
      if (this.waiting.size >= this.waitingMax) return "full";
      if ((await this.slot(signal)) === "left") return "left";
    }
    this.running = true;
    try {
      return { done: await work() };
    } finally {
      const [next] = this.waiting;
      if (next === undefined) this.running = false;
      else next.start(); // `running` stays true: nothing that arrives now overtakes it
    }
  }

  private slot(signal: AbortSignal | undefined): Promise<"free" | "left"> {
    return new Promise((resolve) => {
      const end = (outcome: "free" | "left") => {
        this.waiting.delete(waiting);
        signal?.removeEventListener("abort", leave);
        resolve(outcome);
      };
      const waiting: Waiting = { start: () => end("free") };
      const leave = () => end("left");
      this.waiting.add(waiting);
      signal?.addEventListener("abort", leave);
    });
  }
}

/** Each holds one file in memory. So few pictures of uploads wait to be decoded that others are not delayed. */
const PROCESSING_MAX = 3;

/** Uploads of all accounts that are processed at the same time, in this process. The owners are accounts. */
export const uploadSlots = new Semaphore(PROCESSING_MAX);
