import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import type { LocalProvider } from "../../../../adapters/provider/local/local-provider.js";
import {
  type Painter,
  type PaintingFailed,
  type PaintOrder,
  PaintPool,
} from "../../../../adapters/provider/local/paint-pool.js";
import { PublicFetch } from "../../../../adapters/provider/public-fetch.js";
import { startLocalServer } from "../../../support/local-server.js";
import { scratchFolder } from "../../../support/scratch-folder.js";
import { aLocalProvider, filesIn } from "./local-setup.js";

/** Paints nothing: a picture is painted until it is stopped and the test lets it end. */
class HeldPool extends PaintPool {
  readonly orders: PaintOrder[] = [];
  painting = 0;
  /** Lets pictures that were stopped end. */
  letEnd = () => {};
  private readonly mayEnd = new Promise<void>((resolve) => {
    this.letEnd = resolve;
  });

  override async run<T>(order: PaintOrder, work: (paint: Painter) => Promise<T>): Promise<Result<T, PaintingFailed>> {
    this.orders.push(order);
    this.painting += 1;
    const stopped: PaintingFailed = { kind: "stopped", reason: "stopped" };
    try {
      const paint: Painter = async () => {
        await new Promise<void>((resolve) => order.signal.addEventListener("abort", () => resolve()));
        await this.mayEnd;
        return err(stopped);
      };
      return ok(await work(paint));
    } finally {
      this.painting -= 1;
    }
  }
}

let folder: string;
let pool: HeldPool;
let provider: LocalProvider;

const aProvider = (paintPool = pool, publicFetch = new PublicFetch()) =>
  aLocalProvider({ folder, pool: paintPool, publicFetch });
const request = aCreationRequest({ resolution: "4k", prompt: "a foggy ocean" });
const submitted = async (n = 1): Promise<string> =>
  (await provider.submit({ taskId: taskId(n), request }))._unsafeUnwrap();

beforeEach(async () => {
  folder = await scratchFolder();
  pool = new HeldPool(1);
  provider = aProvider();
});
afterEach(() => pool.letEnd());

describe("a canceled generation of the local provider", () => {
  it("is confirmed after its painting has stopped; until then polls return running", async () => {
    const id = await submitted();
    await expect.poll(() => pool.painting).toBe(1);
    let confirmed = false;
    const canceling = provider.cancel(id).finally(() => {
      confirmed = true;
    });
    await expect.poll(() => pool.orders[0]?.signal.aborted).toBe(true);
    expect(await provider.poll(id)).toEqual(ok({ state: "running" }));
    expect(confirmed).toBe(false);
    pool.letEnd();
    expect(await canceling).toEqual(ok("canceled"));
    expect(pool.painting).toBe(0);
    expect((await provider.poll(id))._unsafeUnwrap().state).toBe("failed");
    expect(await filesIn(folder)).toEqual([[], []]);
  });

  it("is not painted again by a process that starts during the stop", async () => {
    const id = await submitted();
    const canceling = provider.cancel(id);
    await expect.poll(() => pool.orders[0]?.signal.aborted).toBe(true);
    const next = new HeldPool(1);
    expect((await aProvider(next).poll(id))._unsafeUnwrap().state).toBe("failed");
    expect(next.orders).toEqual([]);
    pool.letEnd();
    await canceling;
  });

  it("stops in the process that paints it if another one cancels it", async () => {
    pool.letEnd();
    const id = await submitted();
    await expect.poll(() => pool.painting).toBe(1);
    const other = aProvider(new HeldPool(1));
    expect(await other.cancel(id)).toEqual(ok("canceled"));
    await expect.poll(() => pool.painting).toBe(0);
    await provider.idle();
    expect(await filesIn(folder)).toEqual([[], []]);
  });

  it("does not wait for a reference image that does not arrive", async () => {
    const { origin, close } = await startLocalServer(() => {});
    const fetching = new PublicFetch([origin]);
    provider = aProvider(pool, fetching);
    // A customer's URL is https; the exempt origin stands for any host that is slow.
    const order = { taskId: taskId(1), request: { ...request, imageUrls: [`${origin}/a.png`] } };
    const id = (await provider.submit(order))._unsafeUnwrap();
    await expect.poll(() => pool.painting).toBe(1);
    const from = performance.now();
    expect(await provider.cancel(id)).toEqual(ok("canceled"));
    expect(performance.now() - from).toBeLessThan(15_000); // the time limit of the fetch is 20 s
    await fetching.close();
    await close();
  });
});

describe("the paintings of the local provider", () => {
  it("never exceed the slots of its place: a further submission gets busy", async () => {
    const [place] = provider.places();
    const max = place?.concurrencyMax ?? 0;
    expect(max).toBeGreaterThan(5); // more than one account can have
    const ids: string[] = [];
    for (let n = 1; n <= max; n += 1) ids.push(await submitted(n));
    const refused = await provider.submit({ taskId: taskId(max + 1), request });
    expect(refused._unsafeUnwrapErr().kind).toBe("busy");
    expect(await provider.search(taskId(max + 1))).toEqual(ok(undefined));

    // A process that starts with the jobs of several others.
    const another = aProvider();
    const order = { taskId: taskId(max + 1), request };
    ids.push((await another.submit(order))._unsafeUnwrap());
    pool.orders.length = 0;
    const next = aProvider();
    for (const id of ids) expect(await next.poll(id)).toEqual(ok({ state: "running" }));
    expect(pool.orders).toHaveLength(max);
    pool.letEnd();
    for (const id of ids) await Promise.all([provider, another, next].map((one) => one.cancel(id)));
  });

  it("share the processors by owner, also after a restart; orders without an owner count separately", async () => {
    await provider.submit({ taskId: taskId(1), owner: "account", request });
    await submitted(2);
    pool.orders.length = 0;
    const next = aProvider();
    for (const n of [1, 2]) await next.poll(`local-${taskId(n)}`);
    expect(pool.orders.map(({ owner }) => owner)).toEqual(["account", taskId(2)]);
    pool.letEnd();
    for (const one of [provider, next]) for (const n of [1, 2]) await one.cancel(`local-${taskId(n)}`);
  });
});
