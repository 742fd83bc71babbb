import { Worker } from "node:worker_threads";
import type { Strip } from "./painter/paint.js";

/**
 * The worker threads of the paint pool. They start when they are needed, keep the process alive only while they paint,
 * and end when they have been idle for a while.
 */
export class PaintThreads {
  private readonly threadsMax: number;
  private readonly startWorker: () => Worker;
  private readonly idleMilliseconds: number;
  private readonly workers = new Set<Worker>();
  private readonly idle: { readonly worker: Worker; readonly timeout: NodeJS.Timeout }[] = [];

  constructor(threadsMax: number, startWorker: (() => Worker) | undefined, idleMilliseconds: number) {
    this.threadsMax = threadsMax;
    this.startWorker = startWorker ?? startPaintWorker;
    this.idleMilliseconds = idleMilliseconds;
  }

  /** True if another strip can be painted now. */
  hasFree(): boolean {
    return this.idle.length > 0 || this.workers.size < this.threadsMax;
  }

  /** Call it only if a thread is free. Resolves when the thread is free again, to the error with which it crashed. */
  paint(strip: Strip): Promise<Error | undefined> {
    const worker = this.takeIdle() ?? this.addWorker();
    return new Promise((resolve) => {
      const end = (error?: Error) => {
        worker.off("message", painted);
        worker.off("error", crashed);
        worker.off("exit", exited);
        resolve(error);
      };
      const painted = () => {
        this.rest(worker);
        end();
      };
      const crashed = (error: Error) => {
        // The worker is not used again; `addWorker` starts another one when needed.
        this.workers.delete(worker);
        end(error);
      };
      const exited = (code: number) => crashed(new Error(`a paint worker exited with code ${code}`));
      worker.on("message", painted);
      worker.on("error", crashed);
      worker.on("exit", exited);
      worker.ref();
      worker.postMessage(strip);
    });
  }

  /** Terminates every thread. */
  async close(): Promise<void> {
    for (const { timeout } of this.idle) clearTimeout(timeout);
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private addWorker(): Worker {
    const worker = this.startWorker();
    this.workers.add(worker);
    worker.once("exit", () => this.workers.delete(worker));
    return worker;
  }

  /** Takes the most recently used worker, so that unneeded workers end. */
  private takeIdle(): Worker | undefined {
    const taken = this.idle.pop();
    clearTimeout(taken?.timeout);
    return taken?.worker;
  }

  private rest(worker: Worker): void {
    worker.unref();
    const end = () => {
      this.idle.splice(
        this.idle.findIndex((idle) => idle.worker === worker),
        1,
      );
      this.workers.delete(worker); // at once, so that another one can start while this one ends
      void worker.terminate();
    };
    this.idle.push({ worker, timeout: setTimeout(end, this.idleMilliseconds).unref() });
  }
}

/** The compiled worker. Under vitest and tsx the TypeScript one, for which the thread has to load tsx first. */
const startPaintWorker = (): Worker => {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./paint-worker.js", import.meta.url));
  const { href } = new URL("./paint-worker.ts", import.meta.url);
  return new Worker(`import("tsx/esm/api").then((tsx) => (tsx.register(), import(${JSON.stringify(href)})));`, {
    eval: true,
  });
};
