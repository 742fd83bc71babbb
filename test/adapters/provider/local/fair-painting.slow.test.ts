import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { raysPerColumn } from "../../../../adapters/provider/local/painter/ground-column.js";
import type { Strip } from "../../../../adapters/provider/local/painter/paint.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";
import { RESOLUTIONS, type Resolution } from "../../../../domain/images/resolution.js";

const LAKE = sceneOf("a lake in the mountains", []);
const THREADS = 2;
/** What a thread paints in about 50 ms. A strip of the pool takes so long at most. */
const STRIP_RAYS = 65_536;
/** More than all tests need. */
const ROOM = 1024 ** 4;

type Arrival = { readonly at: number; readonly owner: string; readonly size: Resolution };

/** Paints nothing: a strip takes the time of its rays, on a clock that jumps from one end of a strip to the next. */
class Simulation {
  now = 0;
  /** Of one strip. */
  private raysMax = 0;
  private readonly ends: { readonly at: number; readonly end: () => void }[] = [];
  private readonly pool: PaintPool;
  private readonly pictures: Promise<void>[] = [];

  constructor(bytesMax?: number) {
    this.pool = new PaintPool(THREADS, () => this.worker(), undefined, bytesMax);
  }

  /** Plays arrivals that are in order of time. Returns when each of their pictures was finished. */
  async run(arrivals: readonly Arrival[]): Promise<number[]> {
    const finished: number[] = [];
    for (const [index, { at, owner, size }] of arrivals.entries()) {
      await this.paintUntil(at);
      const order = { size: RESOLUTIONS[size], owner, extraBytes: 0, signal: new AbortController().signal };
      const picture = this.pool.run(order, async (paint) => {
        expect((await paint(LAKE, [])).isOk()).toBe(true);
        finished[index] = this.now;
      });
      this.pictures.push(picture.then((result) => expect(result.isOk()).toBe(true)));
    }
    await this.paintUntil(Number.POSITIVE_INFINITY);
    await Promise.all(this.pictures);
    await this.pool.close();
    expect(this.raysMax).toBeLessThanOrEqual(STRIP_RAYS);
    return finished;
  }

  private async paintUntil(time: number): Promise<void> {
    for (;;) {
      await settled();
      this.ends.sort((a, b) => a.at - b.at);
      const [next] = this.ends;
      if (next === undefined || next.at > time) break;
      this.ends.shift();
      this.now = next.at;
      next.end();
    }
    if (Number.isFinite(time)) this.now = time;
  }

  private worker(): Worker {
    const worker = new EventEmitter();
    const postMessage = ({ from, to, size }: Strip) => {
      const rays = (to - from) * raysPerColumn(size);
      this.raysMax = Math.max(this.raysMax, rays);
      this.ends.push({ at: this.now + rays, end: () => worker.emit("message", "painted") });
    };
    const nothing = () => {};
    return Object.assign(worker, { postMessage, ref: nothing, unref: nothing, terminate: nothing }) as never;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const timeAlone = async (size: Resolution): Promise<number> => {
  const [finished = 0] = await new Simulation().run([{ at: 0, owner: "victim", size }]);
  return finished;
};

/** How long the picture of `victim` takes among the arrivals of others. */
const timeAmong = async (others: readonly Arrival[], at: number, size: Resolution, room?: number): Promise<number> => {
  const victim: Arrival = { at, owner: "victim", size };
  const arrivals = [...others, victim].sort((a, b) => a.at - b.at);
  const finished = await new Simulation(room).run(arrivals);
  return (finished[arrivals.indexOf(victim)] as number) - at;
};

const aSize = fc.constantFrom<Resolution>("1k", "2k", "4k");
/** Within the time of about two 4k pictures. */
const aTime = fc.nat(16_000_000);
const arrivalsOf = (owners: readonly string[]) =>
  fc.array(fc.record({ at: aTime, owner: fc.constantFrom(...owners), size: aSize }), { minLength: 1, maxLength: 12 });

describe("fair painting", () => {
  it("finishes a picture within twice its time plus two strips beside random orders of another account", async () => {
    await fc.assert(
      fc.asyncProperty(arrivalsOf(["hostile"]), aTime, aSize, async (others, at, size) => {
        const alone = await timeAlone(size);
        expect(await timeAmong(others, at, size)).toBeLessThanOrEqual(2 * alone + 2 * STRIP_RAYS);
      }),
      { numRuns: 60 },
    );
  });

  it("shares the processors equally among accounts, regardless of their number of pictures", async () => {
    const owners = ["a", "b", "c"];
    await fc.assert(
      fc.asyncProperty(arrivalsOf(owners), aTime, aSize, async (others, at, size) => {
        const alone = await timeAlone(size);
        const accounts = 1 + new Set(others.map(({ owner }) => owner)).size;
        expect(await timeAmong(others, at, size, ROOM)).toBeLessThanOrEqual(accounts * (alone + STRIP_RAYS));
      }),
      { numRuns: 60 },
    );
  });

  it("finishes the picture of an account that got much, although new accounts come without end", async () => {
    const heavy = Array.from({ length: 3 }, () => ({ at: 0, owner: "heavy", size: "4k" as const }));
    const newcomers = Array.from({ length: 400 }, (_, n) => ({
      // As much as the threads paint.
      at: 8_000_000 + n * 524_288,
      owner: `newcomer ${n}`,
      size: "1k" as const,
    }));
    const finished = await new Simulation().run([...heavy, ...newcomers]);
    const last = Math.max(...finished);
    expect(Math.max(...finished.slice(0, heavy.length))).toBeLessThan(0.8 * last);
  });
});
