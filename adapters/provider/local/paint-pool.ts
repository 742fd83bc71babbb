import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { err, ok, type Result } from "neverthrow";
import type { PixelSize } from "../../../domain/images/resolution.js";
import { LeastServed } from "./least-served.js";
import { PaintThreads } from "./paint-threads.js";
import { raysPerColumn } from "./painter/ground-column.js";
import type { Strip } from "./painter/paint.js";
import type { Reference } from "./painter/references.js";
import type { Scene } from "./painter/scene.js";
import { PixelMemory } from "./pixel-memory.js";

/** A picture to paint and its owner. */
export type PaintOrder = {
  readonly size: PixelSize;
  /** Owner of the order. Owners with the least recent painting time come first. */
  readonly owner: string;
  /** Memory that `work` needs in addition to the pixels. */
  readonly extraBytes: number;
  /** Ends the order: it leaves the queue, or its strips stop after the column that they are painting. */
  readonly signal: AbortSignal;
};

/**
 * `crashed`: a worker crashed. `stopped`: by the signal of the order. `closed`: the pool was closed first; another pool
 * may still paint the picture.
 */
export type PaintingFailed = { readonly kind: "crashed" | "stopped" | "closed"; readonly reason: string };

/**
 * Resolves to the pixels row by row, three bytes each: red, green and blue in sRGB. They are valid until the work that
 * calls it has ended. Call it once.
 */
export type Painter = (scene: Scene, references: readonly Reference[]) => Promise<Result<Uint8Array, PaintingFailed>>;

type Canvas = {
  readonly strip: Required<Omit<Strip, "from" | "to">>;
  nextColumn: number;
  /** Strips that are being painted. */
  running: number;
  failure: PaintingFailed | undefined;
  readonly finish: () => void;
};

type Job = {
  readonly order: PaintOrder;
  readonly bytes: number;
  /** Bytes of the orders that got room while there was too little for this one. */
  bytesPassed: number;
  /** `undefined` once it has room. */
  enter: ((failure: PaintingFailed | undefined) => void) | undefined;
  canvas: Canvas | undefined;
  pixels: Uint8Array | undefined;
};

const CLOSED: PaintingFailed = { kind: "closed", reason: "the paint pool is closed" };
const STOPPED: PaintingFailed = { kind: "stopped", reason: "the painting was stopped" };

/** The work of a thread in less than 50 ms. A task that comes first waits at most so long for the current strip. */
const STRIP_RAYS = 65_536;

/** About two 4k pictures. An owner that paints all the time counts as having got one and a half times this. */
const HALF_LIFE_RAYS = 16_000_000;

/** Starting a worker takes about 50 ms, and it takes about 15 MiB of memory. */
const IDLE_MILLISECONDS = 10_000;

/** Number of threads: one per processor, except one processor for requests. A thread paints one picture. */
const THREADS_MAX = Math.max(1, availableParallelism() - 1);

/** Room for four 4k pictures. */
const BYTES_MAX = 96 * 1024 * 1024;

/**
 * Paints pictures on worker threads, without blocking the event loop. An order waits until there is room in memory, and
 * takes none before. Its picture is cut into strips of columns. Room and threads go to the owner that got the least
 * painting lately, and within an owner to the oldest order.
 */
export class PaintPool {
  private readonly threads: PaintThreads;
  private readonly bytesMax: number;
  private readonly served = new LeastServed(HALF_LIFE_RAYS, STRIP_RAYS / 2);
  private readonly jobs = new Set<Job>();
  private readonly memory: PixelMemory;
  private readonly idleMilliseconds: number;
  private forget: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    threadsMax: number = THREADS_MAX,
    startWorker?: () => Worker,
    idleMilliseconds: number = IDLE_MILLISECONDS,
    bytesMax: number = BYTES_MAX,
  ) {
    this.threads = new PaintThreads(threadsMax, startWorker, idleMilliseconds);
    this.idleMilliseconds = idleMilliseconds;
    this.bytesMax = bytesMax;
    this.memory = new PixelMemory(bytesMax);
  }

  /** Calls `work` when there is room for the order, which lasts until `work` has ended. */
  async run<T>(order: PaintOrder, work: (paint: Painter) => Promise<T>): Promise<Result<T, PaintingFailed>> {
    if (this.closed) return err(CLOSED);
    clearTimeout(this.forget);
    const { size, extraBytes, signal } = order;
    const bytes = 3 * size.widthPixels * size.heightPixels + extraBytes;
    const job: Job = { order, bytes, bytesPassed: 0, enter: undefined, canvas: undefined, pixels: undefined };
    const stop = () => this.stop(job, STOPPED);
    this.jobs.add(job);
    signal.addEventListener("abort", stop);
    try {
      const failure = await new Promise<PaintingFailed | undefined>((enter) => {
        job.enter = enter;
        if (signal.aborted) stop();
        else this.letIn();
      });
      return failure === undefined
        ? ok(await work((scene, references) => this.paint(job, scene, references)))
        : err(failure);
    } finally {
      signal.removeEventListener("abort", stop);
      this.jobs.delete(job);
      if (job.pixels !== undefined) this.memory.giveBack(job.pixels);
      if (this.jobs.size === 0) this.forget = setTimeout(() => this.forgetAll(), this.idleMilliseconds).unref();
      this.letIn();
    }
  }

  /** Terminates every worker; pictures that are not finished fail. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.forget);
    for (const job of this.jobs) this.stop(job, CLOSED);
    await this.threads.close();
  }

  /** The pool was idle for `idleMilliseconds`. Its threads end after the same time, and no longer use the memory. */
  private forgetAll(): void {
    this.memory.clear();
    this.served.clear();
  }

  /**
   * Gives room to the orders that come first. An owner has at most half of it. One that does not fit may be passed by
   * those of other owners, but not for ever.
   */
  private letIn(): void {
    const tooLarge: Job[] = [];
    const waitingOwners = new Set<string>();
    for (const job of this.inOrder(({ enter }) => enter !== undefined)) {
      const { owner } = job.order;
      if (waitingOwners.has(owner)) continue;
      const inside = [...this.jobs].filter(({ enter }) => enter === undefined);
      const own = inside.filter(({ order }) => order.owner === owner);
      const isHalf = own.length > 0 && bytesOf(own) + job.bytes > this.bytesMax / 2;
      const isFull = inside.length > 0 && bytesOf(inside) + job.bytes > this.bytesMax;
      if (isHalf || isFull) {
        if (!isHalf && job.bytesPassed >= this.bytesMax) return;
        if (!isHalf) tooLarge.push(job);
        waitingOwners.add(owner);
      } else {
        for (const passed of tooLarge) passed.bytesPassed += job.bytes;
        job.enter?.(undefined);
        job.enter = undefined;
      }
    }
  }

  private async paint(
    job: Job,
    scene: Scene,
    references: readonly Reference[],
  ): Promise<Result<Uint8Array, PaintingFailed>> {
    const { size, signal } = job.order;
    if (this.closed) return err(CLOSED);
    if (signal.aborted) return err(STOPPED);
    const pixels = this.memory.take(3 * size.widthPixels * size.heightPixels);
    job.pixels = pixels;
    const stopped = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const strip = { scene, references, size, pixels, stopped };
    const failure = await new Promise<PaintingFailed | undefined>((resolve) => {
      const canvas: Canvas = {
        strip,
        nextColumn: 0,
        running: 0,
        failure: undefined,
        finish: () => resolve(canvas.failure),
      };
      job.canvas = canvas;
      this.dispatch();
    });
    job.canvas = undefined;
    return failure === undefined ? ok(pixels) : err(failure);
  }

  private dispatch(): void {
    while (!this.closed && this.threads.hasFree()) {
      const [job] = this.inOrder(({ canvas }) => canvas !== undefined && columnsLeft(canvas) > 0);
      if (job?.canvas === undefined) return;
      void this.paintStrip(job, job.canvas);
    }
  }

  private async paintStrip({ order }: Job, canvas: Canvas): Promise<void> {
    const from = canvas.nextColumn;
    const rays = raysPerColumn(order.size);
    const to = Math.min(from + Math.max(1, Math.floor(STRIP_RAYS / rays)), order.size.widthPixels);
    canvas.nextColumn = to;
    canvas.running += 1;
    this.served.add(order.owner, (to - from) * rays);
    const error = await this.threads.paint({ ...canvas.strip, from, to });
    canvas.running -= 1;
    if (error !== undefined) failCanvas(canvas, { kind: "crashed", reason: error.message });
    if (canvas.running === 0 && columnsLeft(canvas) === 0) canvas.finish();
    this.dispatch();
  }

  private stop({ enter, canvas }: Job, failure: PaintingFailed): void {
    enter?.(failure);
    if (canvas === undefined) return;
    failCanvas(canvas, failure);
    // With strips that are being painted it ends when they have stopped.
    if (canvas.running === 0) canvas.finish();
  }

  private inOrder(wanted: (job: Job) => boolean): readonly Job[] {
    // The sort is stable: of equals, the oldest one is the first.
    return [...this.jobs].filter(wanted).sort((a, b) => this.served.of(a.order.owner) - this.served.of(b.order.owner));
  }
}

const columnsLeft = ({ strip, nextColumn }: Canvas): number => strip.size.widthPixels - nextColumn;

const bytesOf = (jobs: readonly Job[]): number => jobs.reduce((sum, { bytes }) => sum + bytes, 0);

/** The first failure counts; the threads stop painting. */
const failCanvas = (canvas: Canvas, failure: PaintingFailed): void => {
  canvas.failure ??= failure;
  canvas.nextColumn = canvas.strip.size.widthPixels;
  Atomics.store(canvas.strip.stopped, 0, 1);
};
