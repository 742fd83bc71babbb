/** Why work was not run: the queue was full, or its caller left before its turn. */
export type NotRun = "full" | "left";

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
      if ((await this.turn(signal)) === "left") return "left";
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

  private turn(signal: AbortSignal | undefined): Promise<"turn" | "left"> {
    return new Promise((resolve) => {
      const end = (outcome: "turn" | "left") => {
        this.waiting.delete(waiting);
        signal?.removeEventListener("abort", leave);
        resolve(outcome);
      };
      const waiting: Waiting = { start: () => end("turn") };
      const leave = () => end("left");
      this.waiting.add(waiting);
      signal?.addEventListener("abort", leave);
    });
  }
}
