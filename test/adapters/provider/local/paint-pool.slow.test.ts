import { EventEmitter } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import type { Result } from "neverthrow";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type PaintingFailed, PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { paintColumns, type Strip } from "../../../../adapters/provider/local/painter/paint.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";
import { RESOLUTIONS, type Resolution } from "../../../../domain/images/resolution.js";

const LAKE = sceneOf("a lake in the mountains", []);
const MEBIBYTE = 1024 * 1024;

const square = (widthPixels: number) => ({ widthPixels, heightPixels: widthPixels / 2 });
const anOrder = (size = square(256), owner = "a", signal = new AbortController().signal) => ({
  size,
  owner,
  extraBytes: 0,
  signal,
});

/** Paints the order on the pool. */
const paint = async (pool: PaintPool, order = anOrder()): Promise<Result<Uint8Array, PaintingFailed>> =>
  (await pool.run(order, (paintIt) => paintIt(LAKE, []))).andThen((pixels) => pixels);

/** Workers that paint nothing and end their strips when the test says it. */
class Workers {
  /** The strips that are being painted, oldest first. */
  readonly strips: { readonly strip: Strip; readonly end: () => void }[] = [];

  readonly start = (): Worker => {
    const worker = new EventEmitter();
    const postMessage = (strip: Strip) => {
      const painting = {
        strip,
        end: () => {
          this.strips.splice(this.strips.indexOf(painting), 1);
          worker.emit("message", "painted");
        },
      };
      this.strips.push(painting);
    };
    const nothing = () => {};
    return Object.assign(worker, { postMessage, ref: nothing, unref: nothing, terminate: nothing }) as never;
  };

  /** Ends the oldest strip, and lets what waits for it go on. */
  async endOne(): Promise<void> {
    this.strips[0]?.end();
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const bytesOf = (strip: Strip): number => strip.pixels.byteLength;

describe("PaintPool", () => {
  it("does not block the event loop while it paints a large picture", async () => {
    const pool = new PaintPool(2);
    const before = performance.eventLoopUtilization();
    await paint(pool, anOrder(square(2048)));
    const { utilization } = performance.eventLoopUtilization(before);
    await pool.close();
    // Painting on the main thread uses all of it.
    expect(utilization).toBeLessThan(0.5);
  });

  it("paints the picture that one thread paints", async () => {
    const size = square(128);
    const pixels = new Uint8Array(128 * 64 * 3);
    paintColumns({ scene: LAKE, references: [], size, from: 0, to: 128, pixels });
    const pool = new PaintPool(2);
    const order = anOrder(size);
    const painted = await pool.run(order, async (paintIt) => (await paintIt(LAKE, [])).map((shared) => shared.slice()));
    expect(painted.andThen((whole) => whole)._unsafeUnwrap()).toEqual(pixels);
    await pool.close();
  });

  if (process.platform === "linux")
    it("paints on threads of low priority, so that requests come first", async () => {
      const priority = getPriority();
      const before = await threadsOfLowPriority();
      const pool = new PaintPool(1);
      expect((await paint(pool)).isOk()).toBe(true);
      const started = (await threadsOfLowPriority()).filter((thread) => !before.includes(thread));
      await pool.close();
      expect(started).toHaveLength(1);
      expect(getPriority()).toBe(priority);
    });

  it("fails only the picture whose worker crashes, and starts a new worker for the next", async () => {
    let started = 0;
    const crashing = () => {
      started++;
      const code = 'require("node:worker_threads").parentPort.once("message", () => { throw new Error("crashed") })';
      return new Worker(code, { eval: true });
    };
    const pool = new PaintPool(1, crashing);
    const failed = await Promise.all([paint(pool), paint(pool)]);
    for (const result of failed) expect(result._unsafeUnwrapErr()).toEqual({ kind: "crashed", reason: "crashed" });
    expect(started).toBe(2);
    await pool.close();
  });

  it("ends workers that have been idle for a while, and starts new ones for the next picture", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const started: Worker[] = [];
    const ended: Worker[] = [];
    const startWorker = () => {
      const worker = new Worker(
        'const { parentPort } = require("node:worker_threads"); parentPort.on("message", () => parentPort.postMessage("painted"));',
        { eval: true },
      );
      started.push(worker);
      worker.once("exit", () => ended.push(worker));
      return worker;
    };
    const pool = new PaintPool(2, startWorker, 200);
    expect((await paint(pool, anOrder(square(512)))).isOk()).toBe(true);
    expect((await paint(pool, anOrder(square(512)))).isOk()).toBe(true);
    vi.advanceTimersByTime(199);
    expect([started.length, ended.length]).toEqual([2, 0]);
    vi.advanceTimersByTime(1);
    await expect.poll(() => ended.length).toBe(2);
    expect((await paint(pool, anOrder(square(512)))).isOk()).toBe(true);
    expect(started.length).toBe(4);
    await pool.close();
    expect(ended.length).toBe(4);
  });

  it("fails unfinished and new pictures when it is closed", async () => {
    const pool = new PaintPool(1);
    const pictures = [paint(pool, anOrder(square(1024))), paint(pool, anOrder(square(1024)))];
    await pool.close();
    for (const picture of pictures) expect((await picture)._unsafeUnwrapErr().kind).toBe("closed");
    expect((await paint(pool))._unsafeUnwrapErr().kind).toBe("closed");
  });

  it("stops a picture at the next column", async () => {
    const pool = new PaintPool(1);
    const stop = new AbortController();
    const whole = performance.now();
    await paint(pool, anOrder(square(1024)));
    const wholeMilliseconds = performance.now() - whole;
    const stopped = paint(pool, anOrder(RESOLUTIONS["4k"], "a", stop.signal)); // takes 14 times as long
    await settled();
    const from = performance.now();
    stop.abort();
    expect((await stopped)._unsafeUnwrapErr().kind).toBe("stopped");
    expect(performance.now() - from).toBeLessThan(wholeMilliseconds);
    expect((await paint(pool)).isOk()).toBe(true);
    await pool.close();
  });

  it("confirms a stop after the last worker has finished, and starts no further strip", async () => {
    const workers = new Workers();
    const pool = new PaintPool(2, workers.start);
    const stop = new AbortController();
    let ended = false;
    const picture = paint(pool, anOrder(RESOLUTIONS["1k"], "a", stop.signal)).finally(() => {
      ended = true;
    });
    await settled();
    expect(workers.strips).toHaveLength(2);
    stop.abort();
    expect(workers.strips.map(({ strip }) => strip.stopped?.[0])).toEqual([1, 1]);
    await workers.endOne();
    expect([ended, workers.strips.length]).toEqual([false, 1]);
    await workers.endOne();
    expect([ended, workers.strips.length]).toEqual([true, 0]);
    expect((await picture)._unsafeUnwrapErr().kind).toBe("stopped");
    await pool.close();
  });

  it("drops a waiting picture at once, and a picture stopped before", async () => {
    const workers = new Workers();
    const pool = new PaintPool(1, workers.start);
    const stop = new AbortController();
    const others = Array.from({ length: 4 }, (_, n) => paint(pool, anOrder(RESOLUTIONS["4k"], `owner ${n}`)));
    const waiting = paint(pool, anOrder(RESOLUTIONS["4k"], "a", stop.signal));
    await settled();
    stop.abort();
    expect((await waiting)._unsafeUnwrapErr().kind).toBe("stopped");
    expect((await paint(pool, anOrder(RESOLUTIONS["1k"], "a", stop.signal)))._unsafeUnwrapErr().kind).toBe("stopped");
    await pool.close();
    workers.strips[0]?.end();
    await Promise.all(others);
  });

  it("finishes every picture within the memory limit in random orders and stops", async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("order" as const),
        owner: fc.constantFrom("a", "b", "c"),
        size: fc.constantFrom<Resolution>("1k", "2k", "4k"),
      }),
      fc.record({ kind: fc.constant("stop" as const), index: fc.nat(30) }),
      fc.record({ kind: fc.constant("strip" as const), index: fc.nat(1) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const workers = new Workers();
        const pool = new PaintPool(2, workers.start, undefined, 30 * MEBIBYTE);
        const inside = new Map<AbortSignal, number>();
        const stops: AbortController[] = [];
        const pictures: Promise<unknown>[] = [];
        const begin = (owner: string, size: Resolution) => {
          const stop = new AbortController();
          stops.push(stop);
          const order = anOrder(RESOLUTIONS[size], owner, stop.signal);
          const { widthPixels, heightPixels } = order.size;
          const work = pool.run(order, async (paintIt) => {
            inside.set(stop.signal, 3 * widthPixels * heightPixels);
            const pixels = await paintIt(LAKE, []);
            inside.delete(stop.signal);
            expect(pixels.isErr()).toBe(stop.signal.aborted);
          });
          pictures.push(work);
        };
        for (const one of steps) {
          if (one.kind === "order") begin(one.owner, one.size);
          if (one.kind === "stop") stops[one.index]?.abort();
          if (one.kind === "strip") workers.strips[one.index]?.end();
          await settled();
          const bytes = [...inside.values()];
          expect(bytes.length <= 1 || bytes.reduce((sum, each) => sum + each, 0) <= 30 * MEBIBYTE).toBe(true);
          for (const { strip } of workers.strips) expect(bytesOf(strip)).toBeGreaterThan(0);
        }
        for (let strips = 0; workers.strips.length > 0 && strips < 3000; strips += 1) await workers.endOne();
        await Promise.all(pictures);
        await pool.close();
      }),
      { numRuns: 40 },
    );
  });
});

/** The threads of this process whose nice value is higher than that of the main thread. */
const threadsOfLowPriority = async (): Promise<string[]> => {
  const threads = await readdir("/proc/self/task");
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/stat`, "utf8")));
  // The nice value is the 19th field; the second one, in parentheses, may have blanks.
  return threads.filter((_, index) => Number(stats[index]?.split(") ")[1]?.split(" ")[16]) > getPriority());
};
