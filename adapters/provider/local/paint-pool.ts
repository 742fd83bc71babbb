import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { err, ok, type Result } from "neverthrow";
import type { PixelSize } from "../../../domain/resolution.js";
import type { Strip } from "./painter/paint.js";
import type { Reference } from "./painter/references.js";
import type { Scene } from "./painter/scene.js";

export type Picture = { readonly scene: Scene; readonly references: readonly Reference[]; readonly size: PixelSize };

/** `crashed`: a worker crashed. `closed`: the pool was closed first; another pool may still paint the picture. */
export type PaintingFailed = { readonly kind: "crashed" | "closed"; readonly reason: string };

type Job = {
  readonly strips: Strip[];
  remaining: number;
  readonly finish: (failure: PaintingFailed | undefined) => void;
};

const CLOSED: PaintingFailed = { kind: "closed", reason: "the paint pool is closed" };

/** Narrow, so that workers finish at about the same time and a small picture does not wait for a whole large one. */
const STRIP_COLUMNS = 128;

/** A worker takes about 15 MiB of memory, and starting one takes about 50 ms. */
const IDLE_MILLISECONDS = 10_000;

/**
 * Paints pictures on worker threads, without blocking the event loop. Pictures are queued and cut into strips of
 * columns. Workers start with the first picture, keep the process alive only while they paint, and end when they have
 * been idle for a while.
 */
export class PaintPool {
  private readonly workersMax: number;
  private readonly workers = new Set<Worker>();
  private readonly idle: { readonly worker: Worker; readonly timeout: NodeJS.Timeout }[] = [];
  private readonly queue: Job[] = [];
  private readonly startWorker: () => Worker;
  private readonly idleMilliseconds: number;
  private closed = false;

  constructor(
    workersMax: number = availableParallelism(),
    startWorker: () => Worker = startPaintWorker,
    idleMilliseconds: number = IDLE_MILLISECONDS,
  ) {
    this.workersMax = workersMax;
    this.startWorker = startWorker;
    this.idleMilliseconds = idleMilliseconds;
  }

  /** The pixels row by row, three bytes each: red, green and blue in sRGB. */
  async paint({ scene, references, size }: Picture): Promise<Result<Uint8Array, PaintingFailed>> {
    if (this.closed) return err(CLOSED);
    const { widthPixels } = size;
    const pixels = new Uint8Array(new SharedArrayBuffer(widthPixels * size.heightPixels * 3));
    const strips: Strip[] = [];
    for (let from = 0; from < widthPixels; from += STRIP_COLUMNS) {
      strips.push({ scene, references, size, from, to: Math.min(from + STRIP_COLUMNS, widthPixels), pixels });
    }
    const failure = await new Promise<PaintingFailed | undefined>((finish) => {
      this.queue.push({ strips, remaining: strips.length, finish });
      this.dispatch();
    });
    return failure === undefined ? ok(pixels) : err(failure);
  }

  /** Terminates every worker; pictures that are not finished fail. */
  async close(): Promise<void> {
    this.closed = true;
    for (const job of [...this.queue]) this.fail(job, CLOSED);
    for (const { timeout } of this.idle) clearTimeout(timeout);
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private dispatch(): void {
    while (true) {
      const job = this.queue.find(({ strips }) => strips.length > 0);
      if (job === undefined) return;
      const worker = this.takeIdle() ?? (this.workers.size < this.workersMax ? this.addWorker() : undefined);
      if (worker === undefined) return;
      this.assign(worker, job);
    }
  }

  private addWorker(): Worker {
    const worker = this.startWorker();
    this.workers.add(worker);
    worker.once("exit", () => this.workers.delete(worker));
    return worker;
  }

  /** Takes the one that has been idle for the shortest time, so that workers that are not needed end. */
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

  private assign(worker: Worker, job: Job): void {
    const stopListening = () => {
      worker.off("message", painted);
      worker.off("error", crashed);
      worker.off("exit", exited);
    };
    const painted = () => {
      stopListening();
      this.rest(worker);
      job.remaining -= 1;
      if (job.remaining === 0) this.end(job, undefined);
      this.dispatch();
    };
    const crashed = (error: Error) => {
      stopListening();
      // The worker is not used again; `addWorker` starts another one when needed.
      this.workers.delete(worker);
      this.fail(job, { kind: "crashed", reason: error.message });
      if (!this.closed) this.dispatch();
    };
    const exited = (code: number) => crashed(new Error(`a paint worker exited with code ${code}`));
    worker.on("message", painted);
    worker.on("error", crashed);
    worker.on("exit", exited);
    worker.ref();
    worker.postMessage(job.strips.shift());
  }

  private fail(job: Job, failure: PaintingFailed): void {
    job.strips.length = 0;
    this.end(job, failure);
  }

  private end(job: Job, failure: PaintingFailed | undefined): void {
    const index = this.queue.indexOf(job);
    if (index !== -1) this.queue.splice(index, 1);
    job.finish(failure);
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
