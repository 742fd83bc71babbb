import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { workOnLeases } from "../../../application/background/work-on-leases.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { LEASE_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

/** Work that ends when the test resolves it. */
class Workbench {
  readonly begun: TaskId[] = [];
  private readonly ends = new Map<TaskId, () => void>();
  private readonly clock: World["clock"];

  constructor({ clock }: World) {
    this.clock = clock;
  }

  readonly workOn = ({ task }: { readonly task: { readonly id: TaskId } }): Promise<undefined> => {
    this.begun.push(task.id);
    return new Promise((resolve) => this.ends.set(task.id, () => resolve(undefined)));
  };

  async end(id: TaskId | undefined): Promise<void> {
    this.ends.get(id as TaskId)?.();
    await this.clock.settled();
  }
}

describe("workOnLeases", () => {
  let world: World;
  let bench: Workbench;
  const limits = { leaseMilliseconds: LEASE_MILLISECONDS, concurrency: 4 };
  const work = (stopping?: AbortSignal) => workOnLeases(world, "poll", { ...limits, stopping }, bench.workOn);

  beforeEach(async () => {
    world = aWorld();
    bench = new Workbench(world);
    const owners: AccountId[] = [await anOwner(world, 100), await anOwner(world, 100)];
    for (const owner of owners) {
      for (let n = 0; n < 5; n += 1) (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    }
    await world.clock.advance(world.provider.nextPollMilliseconds());
  });

  it("continues with other tasks while one is slow, and claims when half of the concurrency is free", async () => {
    const working = work();
    await world.clock.settled();
    expect(bench.begun).toHaveLength(4);
    const [slow, ...quick] = bench.begun;
    await bench.end(quick[0]);
    expect(bench.begun).toHaveLength(4);
    await bench.end(quick[1]);
    expect(bench.begun).toHaveLength(6);
    for (let n = 0; n < bench.begun.length; n += 1) if (bench.begun[n] !== slow) await bench.end(bench.begun[n]);
    expect(bench.begun).toHaveLength(10);
    await bench.end(slow);
    expect(await working).toBe(10);
    expect(new Set(bench.begun).size).toBe(10);
  });

  it("starts tasks that become due while a slow one still runs", async () => {
    const owner = await anOwner(world, 100);
    const working = work();
    for (let n = 0; n < 9; n += 1) {
      await world.clock.settled();
      await bench.end(bench.begun[n]);
    }
    await world.clock.settled();
    expect(bench.begun).toHaveLength(10);
    (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.clock.settled();
    expect(bench.begun).toHaveLength(11);
    await bench.end(bench.begun[10]);
    await bench.end(bench.begun[9]);
    expect(await working).toBe(11);
    expect(world.clock.sleeping).toBe(0);
  });

  it("postpones unchanged tasks in batches, and all of them are due in time", async () => {
    const given: number[] = [];
    const again = new Date(world.clock.now().getTime() + 1_000);
    const postpone = async (all: Parameters<World["tasks"]["postpone"]>[0]): Promise<void> => {
      given.push(all.length);
      await world.clock.settled();
      await world.tasks.postpone(all);
    };
    const tasks = Object.assign(Object.create(world.tasks), { postpone });
    const worked = await workOnLeases({ ...world, tasks }, "poll", limits, async () => again);
    expect(worked).toBe(10);
    expect(given.reduce((sum, count) => sum + count)).toBe(10);
    expect(given.length).toBeLessThanOrEqual(5);
    expect(given).not.toContain(0);
    await world.clock.advance(999);
    expect(await work()).toBe(0);
    await world.clock.advance(1);
    expect(await world.tasks.claim("poll", world.clock.now(), again, 99)).toHaveLength(10);
  });

  it("never claims without free capacity", async () => {
    const limitsOfClaims: number[] = [];
    const { claim } = world.tasks;
    const recorded: typeof claim = (kind, now, until, limit) => {
      limitsOfClaims.push(limit);
      return claim.call(world.tasks, kind, now, until, limit) as never;
    };
    world.tasks.claim = recorded;
    const stopping = new AbortController();
    const working = work(stopping.signal);
    await world.clock.settled();
    stopping.abort();
    await bench.end(bench.begun[0]);
    await world.clock.advance(5_000);
    for (const id of [...bench.begun]) await bench.end(id);
    expect(await working).toBe(4);
    expect(limitsOfClaims).toEqual([4]);
  });
});
